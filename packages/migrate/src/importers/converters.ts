import type { Converter, ImportSource } from '../model/model.ts'
import { convertConfigCat } from './configcat/configcat.ts'
import { convertFlagd } from './flagd/flagd.ts'
import { convertFlagsmith } from './flagsmith/flagsmith.ts'
import { convertFlipt } from './flipt/flipt.ts'
import { convertGoFeatureFlag } from './go-feature-flag/go-feature-flag.ts'
import { convertGrowthBook } from './growthbook/growthbook.ts'
import { convertLaunchDarkly } from './launchdarkly/launchdarkly.ts'
import { environmentsIn as environmentsInLaunchDarkly } from './launchdarkly/read-document.ts'
import { convertPostHog } from './posthog/posthog.ts'
import { environmentsInUnleash } from './unleash/read-document.ts'
import { convertUnleash } from './unleash/unleash.ts'

/** One line for each service. */
export const convertersBySource: Readonly<Record<ImportSource, Converter>> = {
  posthog: convertPostHog,
  launchdarkly: convertLaunchDarkly,
  unleash: convertUnleash,
  growthbook: convertGrowthBook,
  flagsmith: convertFlagsmith,
  flagd: convertFlagd,
  'go-feature-flag': convertGoFeatureFlag,
  flipt: convertFlipt,
  configcat: convertConfigCat,
}

/** The names of the environments in a document, for services whose documents have several. */
export const environmentsBySource: Readonly<Partial<Record<ImportSource, (document: unknown) => readonly string[]>>> = {
  launchdarkly: environmentsInLaunchDarkly,
  unleash: environmentsInUnleash,
}
