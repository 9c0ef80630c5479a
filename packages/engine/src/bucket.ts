import { unitHash } from './sha1.ts'

/** The number from 0 to 1 that is held against a condition's percentage. */
export function rolloutBucket(flagKey: string, identifier: string): number {
  return unitHash(`${flagKey}.${identifier}`)
}

/** The number from 0 to 1 that picks a variant. */
export function variantBucket(flagKey: string, identifier: string): number {
  return unitHash(`${flagKey}.${identifier}variant`)
}

/** The number from 0 to 1 that is held against a holdout's percentage. It is the same for all flags. */
export function holdoutBucket(identifier: string): number {
  return unitHash(`holdout-${identifier}`)
}
