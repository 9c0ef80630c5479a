import { convertLaunchDarkly } from './launchdarkly/launchdarkly.ts'
import { environmentsIn as environmentsInLaunchDarkly } from './launchdarkly/read-document.ts'
import type { Converter, ImportSource } from './model.ts'
import { convertPostHog } from './posthog/posthog.ts'

/** One line for each service. */
export const convertersBySource: Readonly<Partial<Record<ImportSource, Converter>>> = {
  posthog: convertPostHog,
  launchdarkly: convertLaunchDarkly,
}

/** The names of the environments in a document, for services whose documents have several. */
export const environmentsBySource: Readonly<Partial<Record<ImportSource, (document: unknown) => readonly string[]>>> = {
  launchdarkly: environmentsInLaunchDarkly,
}
