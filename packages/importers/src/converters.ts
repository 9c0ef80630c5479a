import { convertLaunchDarkly } from './launchdarkly/launchdarkly.ts'
import type { Converter, ImportSource } from './model.ts'
import { convertPostHog } from './posthog/posthog.ts'

/** One line for each service. */
export const convertersBySource: Readonly<Partial<Record<ImportSource, Converter>>> = {
  posthog: convertPostHog,
  launchdarkly: convertLaunchDarkly,
}
