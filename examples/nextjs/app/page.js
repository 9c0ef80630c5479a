import { HalyardFlags } from '@halyard/react'
import { cookies } from 'next/headers'
import { connection } from 'next/server'
import { Suspense } from 'react'
import { flagsOf } from '../lib/flags'
import { Checkout } from './checkout'

const url = process.env.NEXT_PUBLIC_HALYARD_URL
const token = process.env.NEXT_PUBLIC_HALYARD_PROJECT_TOKEN

export default function Page() {
  return (
    <Suspense fallback={<p>Loading …</p>}>
      <Flags>
        <Checkout />
      </Flags>
    </Suspense>
  )
}

async function Flags({ children }) {
  await connection() // evaluate for each request, never while prerendering
  const userId = (await cookies()).get('visitor').value
  return (
    <HalyardFlags url={url} token={token} context={{ targetingKey: userId }} initial={await flagsOf(userId)}>
      {children}
    </HalyardFlags>
  )
}
