import 'server-only'
import { PostHog } from 'posthog-node'
import { cache } from 'react'

const client = new PostHog(process.env.NEXT_PUBLIC_HALYARD_PROJECT_TOKEN, { host: process.env.HALYARD_URL })

export const flagsOf = cache(async userId => {
  const flags = await client.evaluateFlags(userId)
  return Object.fromEntries(flags.keys.map(key => [key, flags.getFlag(key)]))
})
