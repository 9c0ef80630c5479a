'use client'
import { useFeatureFlagEnabled } from 'posthog-js/react'

export function PayButton() {
  return <button type="button">{useFeatureFlagEnabled('new-checkout') ? 'Pay in one step' : 'Continue'}</button>
}
