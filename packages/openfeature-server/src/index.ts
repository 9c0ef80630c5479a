export { HalyardProvider, type HalyardProviderOptions } from './halyard-provider.ts'
