export { HalyardWebProvider, type HalyardWebProviderOptions, type OverrideSource } from './halyard-web-provider.ts'
export {
  type FlagSnapshot,
  fetchSnapshot as evaluateFlags,
  OfrepFailure,
  type OfrepFlag,
  type OfrepRequest,
} from './ofrep.ts'
export type { SnapshotStorage } from './snapshot-store.ts'
