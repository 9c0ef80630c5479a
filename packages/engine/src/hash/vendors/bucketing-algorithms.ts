import type { BucketingAlgorithmName } from '../../definition/bucketing-algorithm-name.ts'
import { bucketOf, firstWordOf } from '../bucket.ts'
import { packPrefix, ROLLOUT_SALT, type Salt, VARIANT_SALT } from '../message.ts'
import { crc32 } from './crc32.ts'
import { fnv1a } from './fnv1a.ts'
import { md5 } from './md5.ts'
import { murmur3 } from './murmur3.ts'
import { type Encoding, unitsOf } from './units.ts'

/** What is hashed: `seed` is what the vendor puts beside the identifier, such as the key of the flag. */
export interface HashInput {
  readonly seed: string
  readonly identifier: string
  readonly encoding: Encoding
}

/** How a feature-flag service assigns identifiers to rollouts and variants, with its own arithmetic. */
export interface BucketingAlgorithm {
  /** Whether a subject without the identifier gets the hash 0, or is outside of every rollout and split. */
  readonly withoutIdentifier: 'zero' | 'excluded'
  /** Whether a property with this value can be the identifier; values that are not scalar never are. */
  identifies(value: unknown): boolean
  /** The hash for `includes`. */
  rolloutHash(input: HashInput): number
  /** The hash for `choose`. */
  splitHash(input: HashInput): number
  includes(hash: number, percentage: number): boolean
  /** The index of the chosen weight, or -1. */
  choose(hash: number, weights: readonly number[]): number
  /** The position of a hash between 0 and 1. */
  position(hash: number): number
}

const sumOf = (weights: readonly number[]): number => weights.reduce((sum, weight) => sum + weight, 0)

/** The first index whose cumulative weight exceeds the position, in units of the weights. */
function firstAbove(position: number, weights: readonly number[]): number {
  let sum = 0
  return weights.findIndex(weight => {
    sum += weight
    return position < sum
  })
}

/** An empty identifier has the hash 0. */
const posthogHash =
  (salt: Salt) =>
  ({ seed, identifier }: HashInput): number =>
    identifier === '' ? 0 : bucketOf(packPrefix(`${seed}.`), identifier, salt)

const anyScalar = (): boolean => true

const posthog: BucketingAlgorithm = {
  withoutIdentifier: 'zero',
  identifies: anyScalar,
  rolloutHash: posthogHash(ROLLOUT_SALT),
  splitHash: posthogHash(VARIANT_SALT),
  includes: (hash, percentage) => hash <= percentage / 100,
  choose: (hash, weights) => firstAbove(hash * sumOf(weights), weights),
  position: hash => hash,
}

const launchdarklyHash = ({ seed, identifier }: HashInput): number =>
  bucketOf(packPrefix(`${seed}.`), identifier, ROLLOUT_SALT)

/** Weights are in units of 1/100,000. The last one takes what rounding leaves. */
const launchdarkly: BucketingAlgorithm = {
  ...posthog,
  identifies: value => typeof value === 'string' || Number.isInteger(value),
  rolloutHash: launchdarklyHash,
  splitHash: launchdarklyHash,
  includes: (hash, percentage) => hash < percentage / 100,
  choose: (hash, weights) => {
    const chosen = firstAbove(
      hash,
      weights.map(weight => weight / 100_000),
    )
    return chosen === -1 ? weights.length - 1 : chosen
  },
}

const unleashInput = ({ seed, identifier, encoding }: HashInput): ArrayLike<number> =>
  unitsOf(`${seed}:${identifier}`, encoding)

const unleash: BucketingAlgorithm = {
  withoutIdentifier: 'excluded',
  identifies: anyScalar,
  rolloutHash: input => murmur3(unleashInput(input), 0),
  splitHash: input => murmur3(unleashInput(input), 86_028_157),
  includes: (hash, percentage) => percentage > 0 && (hash % 100) + 1 <= percentage,
  choose: (hash, weights) => firstAbove(hash % sumOf(weights), weights),
  position: hash => (hash % 100) / 100,
}

function growthbook(hash: (input: HashInput) => number): BucketingAlgorithm {
  return {
    withoutIdentifier: 'excluded',
    identifies: anyScalar,
    rolloutHash: hash,
    splitHash: hash,
    includes: (position, percentage) => position <= percentage / 100,
    choose: (position, weights) => firstAbove(position * sumOf(weights), weights),
    position: position => position,
  }
}

const growthbookV1 = growthbook(
  ({ seed, identifier, encoding }) => (fnv1a(unitsOf(`${identifier}${seed}`, encoding)) % 1000) / 1000,
)
const growthbookV2 = growthbook(({ seed, identifier, encoding }) => {
  const inner = fnv1a(unitsOf(`${seed}${identifier}`, encoding))
  return (fnv1a(unitsOf(String(inner), encoding)) % 10_000) / 10_000
})

/** A percentage from 0 to below 100. */
function flagsmithHash({ seed, identifier, encoding }: HashInput): number {
  const once = `${seed},${identifier}`
  for (let text = once; ; text += `,${once}`) {
    let remainder = 0
    for (const byte of md5(unitsOf(text, encoding))) remainder = (remainder * 256 + byte) % 9999
    const percentage = (remainder / 9998) * 100
    if (percentage !== 100) return percentage
  }
}

const flagsmith: BucketingAlgorithm = {
  withoutIdentifier: 'excluded',
  identifies: anyScalar,
  rolloutHash: flagsmithHash,
  splitHash: flagsmithHash,
  includes: (hash, percentage) => hash <= percentage,
  choose: firstAbove,
  position: hash => hash / 100,
}

const flagdHash = ({ seed, identifier, encoding }: HashInput): number =>
  murmur3(unitsOf(`${seed}${identifier}`, encoding), 0)

/** The hash scaled to the range of the weights. The product needs more than 53 bits. */
const scaled = (hash: number, total: number): number => Number((BigInt(hash) * BigInt(Math.trunc(total))) >> 32n)

const flagd: BucketingAlgorithm = {
  withoutIdentifier: 'excluded',
  identifies: anyScalar,
  rolloutHash: flagdHash,
  splitHash: flagdHash,
  includes: (hash, percentage) => scaled(hash, 100) < percentage,
  choose: (hash, weights) => firstAbove(scaled(hash, sumOf(weights)), weights),
  position: hash => hash / 2 ** 32,
}

const goFeatureFlagHash = ({ seed, identifier, encoding }: HashInput): number =>
  fnv1a(unitsOf(`${seed}${identifier}`, encoding))

/** Weights are percentages, compared in units of 1/1,000. */
const goFeatureFlag: BucketingAlgorithm = {
  withoutIdentifier: 'excluded',
  identifies: anyScalar,
  rolloutHash: goFeatureFlagHash,
  splitHash: goFeatureFlagHash,
  includes: (hash, percentage) => hash % 100_000 < Math.trunc(percentage * 1000),
  choose: (hash, weights) => {
    const total = Math.trunc(sumOf(weights) * 1000)
    let end = 0
    return weights.findIndex(weight => {
      end += weight * 1000
      return hash % total < Math.trunc(end)
    })
  },
  position: hash => (hash % 100_000) / 100_000,
}

const single = Math.fround

/** Computes with single precision, as Flipt does. */
const flipt: BucketingAlgorithm = {
  withoutIdentifier: 'excluded',
  identifies: anyScalar,
  rolloutHash: ({ seed, identifier, encoding }) => crc32(unitsOf(`${identifier}${seed}`, encoding)),
  splitHash: ({ seed, identifier, encoding }) => crc32(unitsOf(`${seed}${identifier}`, encoding)),
  includes: (hash, percentage) => hash % 100 < single(percentage),
  choose: (hash, weights) => {
    const last = weights.findLastIndex(weight => weight > 0)
    const total = weights.reduce((sum, weight) => single(sum + single(weight)), 0)
    // Flipt truncates each percentage to tenths. Percentages add up to 100 there; other sums are scaled to it.
    const percentageOf = (weight: number): number => (total === 100 ? weight : (weight / total) * 100)
    let cumulative = 0
    return weights.findIndex((weight, index) => {
      if (!(weight > 0)) return false
      cumulative += Math.trunc(single(single(percentageOf(weight)) * 10))
      return hash % 1000 < (index === last ? 1000 : cumulative)
    })
  },
  position: hash => (hash % 100) / 100,
}

const configcatHash = ({ seed, identifier }: HashInput): number =>
  (firstWordOf(packPrefix(seed), identifier) >>> 4) % 100

const configcat: BucketingAlgorithm = {
  withoutIdentifier: 'excluded',
  identifies: anyScalar,
  rolloutHash: configcatHash,
  splitHash: configcatHash,
  includes: (hash, percentage) => hash < percentage,
  choose: firstAbove,
  position: hash => hash / 100,
}

export const bucketingAlgorithms = {
  posthog,
  launchdarkly,
  unleash,
  growthbook_v1: growthbookV1,
  growthbook_v2: growthbookV2,
  flagsmith,
  flagd,
  go_feature_flag: goFeatureFlag,
  flipt,
  configcat,
} as const satisfies Record<BucketingAlgorithmName, BucketingAlgorithm>
