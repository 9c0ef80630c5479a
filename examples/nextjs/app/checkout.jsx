'use client'
import { useFlag } from '@halyard/react'

export function Checkout() {
  const isNew = useFlag('new-checkout', false)
  return (
    <main>
      <h1>{isNew ? 'New checkout' : 'Old checkout'}</h1>
      <button type="button">{isNew ? 'Pay in one step' : 'Continue'}</button>
    </main>
  )
}
