import type { Instant } from '../../instant.ts'

export const daysSince = (instant: Instant): number =>
  Math.floor((Date.now() - Date.parse(instant)) / (24 * 60 * 60 * 1000))
