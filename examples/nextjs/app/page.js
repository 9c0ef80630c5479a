import { cookies } from 'next/headers'
import { connection } from 'next/server'
import { Suspense } from 'react'
import { flagsOf } from '../lib/flags'
import { FlagsProvider } from './flags-provider'
import { PayButton } from './pay-button'

export default function Page() {
  return (
    <Suspense fallback={<p>Loading …</p>}>
      <Checkout />
    </Suspense>
  )
}

async function Checkout() {
  await connection() // evaluate for each request, never while prerendering
  const userId = (await cookies()).get('visitor').value
  const flags = await flagsOf(userId)
  return (
    <FlagsProvider userId={userId} flags={flags}>
      <h1>{flags['new-checkout'] ? 'New checkout' : 'Old checkout'}</h1>
      <PayButton />
    </FlagsProvider>
  )
}
