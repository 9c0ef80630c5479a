import { useFlag as useOpenFeatureFlag, useSuspenseFlag as useOpenFeatureSuspenseFlag } from '@openfeature/react-sdk'
import type { EvaluationDetails, FlagValue } from '@openfeature/web-sdk'

/** `halyard types --for @halyard/react` adds `flags`, the values by key. Without it, any key is allowed. */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by declaration merging.
export interface Register {}

type Known = Register extends { flags: infer Flags } ? Flags : never
type IsUnknown = [Known] extends [never] ? true : false

export type FlagKey = IsUnknown extends true ? string : keyof Known & string
/** What the default of a flag can be. */
export type FlagDefault<K> = IsUnknown extends true ? FlagValue : K extends keyof Known ? Known[K] : never
/** The value of a flag: of its own type, or of the type of the default. */
export type FlagResult<K, D> = IsUnknown extends true ? Widened<D> : K extends keyof Known ? Known[K] : never

type Widened<D> = D extends boolean ? boolean : D extends number ? number : D extends string ? string : D

/** The value of a flag. The component renders again when it changes. */
export function useFlag<K extends FlagKey, const D extends FlagDefault<K>>(key: K, defaultValue: D): FlagResult<K, D> {
  return useOpenFeatureFlag(key, defaultValue as FlagValue).value as FlagResult<K, D>
}

/** The same with variant, reason and metadata, such as the payload. */
export function useFlagDetails<K extends FlagKey, const D extends FlagDefault<K>>(
  key: K,
  defaultValue: D,
): EvaluationDetails<FlagResult<K, D> & FlagValue> {
  return useOpenFeatureFlag(key, defaultValue as FlagValue).details as EvaluationDetails<FlagResult<K, D> & FlagValue>
}

/** The same, but the component waits in a `Suspense` boundary until there are values. */
export function useSuspenseFlag<K extends FlagKey, const D extends FlagDefault<K>>(
  key: K,
  defaultValue: D,
): FlagResult<K, D> {
  return useOpenFeatureSuspenseFlag(key, defaultValue as FlagValue).value as FlagResult<K, D>
}
