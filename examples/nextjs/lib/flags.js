import 'server-only'
import { evaluateFlags } from '@halyard/openfeature-web'
import { cache } from 'react'

const url = process.env.HALYARD_URL
const token = process.env.NEXT_PUBLIC_HALYARD_PROJECT_TOKEN

export const flagsOf = cache(userId =>
  // Without Halyard, the page shows the defaults of your code.
  evaluateFlags({ url, token, context: { targetingKey: userId } }).catch(() => undefined),
)
