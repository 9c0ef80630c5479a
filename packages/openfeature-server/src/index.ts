export { HalyardProvider, type HalyardProviderOptions } from './halyard-provider.ts'
export { ShadowProvider, type ShadowProviderOptions } from './shadow-provider.ts'
export type { ShadowComparison, ShadowReporterOptions } from './shadow-reporter.ts'
