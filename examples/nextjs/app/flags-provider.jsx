'use client'
import { PostHogProvider } from 'posthog-js/react'

export function FlagsProvider({ userId, flags, children }) {
  const options = {
    api_host: process.env.NEXT_PUBLIC_HALYARD_URL,
    bootstrap: { distinctID: userId, featureFlags: flags },
    autocapture: false,
    capture_pageview: false,
  }
  return (
    <PostHogProvider apiKey={process.env.NEXT_PUBLIC_HALYARD_PROJECT_TOKEN} options={options}>
      {children}
    </PostHogProvider>
  )
}
