import type { FlagDefinition } from '../definition/definition.ts'
import type { ParsedBucketing } from '../definition/parse-bucketing.ts'
import {
  type ParsedCondition,
  type ParsedFilters,
  type ParsedHoldout,
  parseFilters,
} from '../definition/parse-filters.ts'
import type { ParsedProperty } from '../definition/parse-property.ts'
import { usesOf } from '../definition/references.ts'
import { isServerOnly } from '../definition/server-only.ts'
import { oneValue, splitShares, type ValueShares, variantShares } from './value-shares.ts'

/** What decides who gets which value of a flag, in a form in which two versions of the flag can be compared. */
export interface ServedFlag {
  readonly key: string
  readonly conditions: readonly ServedCondition[]
  readonly superCondition: ServedCondition | null
  readonly enrollment: boolean
  readonly earlyExit: boolean
  readonly holdout: (ParsedHoldout & { readonly hash: string }) | null
  /** Whether SDKs may evaluate it themselves follows from this, and with it what becomes of filters that they decline. */
  readonly evaluability: string
}

export interface ServedCondition {
  /** By their ids: all of them must match. */
  readonly filters: ReadonlyMap<string, ParsedProperty>
  /** Conditions with the same hash put a subject at the same position of the rollout; null includes everyone without one. */
  readonly hash: string | null
  /** The rollout, from 0 to 1. */
  readonly share: number
  /** PostHog SDKs may decline it although it matches, and continue with a later condition. */
  readonly isUncertain: boolean
  /** A full rollout in PostHog's bucketing includes everyone, whatever the hash is. */
  readonly isFull: boolean
  readonly outcome: ValueShares
}

/** A flag that no one gets: absent, disabled, or with filters that cannot be evaluated. */
export const servedToNoOne: ServedFlag = {
  key: '',
  conditions: [],
  superCondition: null,
  enrollment: false,
  earlyExit: false,
  holdout: null,
  evaluability: '',
}

export function readServedFlag(definition: FlagDefinition | undefined): ServedFlag {
  const filters = definition?.active ? parseFilters(definition.filters, () => {}) : undefined
  if (!definition || !filters) return servedToNoOne
  const { bucketingIdentifier, ensureExperienceContinuity, key } = definition
  // What the identifier is, apart from the entity that it belongs to.
  const identifier = [key, bucketingIdentifier === 'device_id', ensureExperienceContinuity === true]
  const read = (condition: ParsedCondition) => readCondition(condition, filters, identifier)
  return {
    key,
    conditions: filters.conditions.map(read),
    superCondition: filters.superCondition && {
      ...read(filters.superCondition),
      outcome: oneValue(true),
    },
    enrollment: filters.enrollment,
    earlyExit: filters.earlyExit,
    holdout: filters.holdout && {
      ...filters.holdout,
      hash: JSON.stringify([filters.aggregation, ...identifier.slice(1)]),
    },
    evaluability: JSON.stringify([isServerOnly(definition.filters), usesOf(definition.filters), identifier]),
  }
}

function readCondition(condition: ParsedCondition, filters: ParsedFilters, identifier: readonly unknown[]) {
  const entity = condition.aggregation ?? filters.aggregation
  const { percentage, split } = condition
  const bucketing = condition.bucketing ?? filters.bucketing
  const isNative = bucketing === null && split === null
  const share = Math.min(Math.max((percentage ?? 100) / 100, 0), 1)
  const hash = (own: ParsedBucketing | null) => JSON.stringify([entity, identifier, own])
  return {
    filters: filtersOf(condition.properties, entity),
    hash: isNative
      ? hash(null)
      : percentage === null && split === null
        ? null
        : JSON.stringify([hash(bucketing), split && { ...split, path: '' }]),
    share,
    isUncertain: !condition.properties.every(isCertain),
    isFull: isNative && share === 1,
    outcome: outcomeOf(condition, filters, hash(split?.bucketing ?? bucketing)),
  }
}

/** Filters that SDKs do not decline when they match. */
const isCertain = (property: ParsedProperty): boolean =>
  property.kind === 'value' && !property.inverted && ['exact', 'icontains', 'is_set'].includes(property.operator ?? '')

function filtersOf(properties: readonly ParsedProperty[], entity: string | null): Map<string, ParsedProperty> {
  const filters = new Map<string, ParsedProperty>()
  // A group may be absent, which is one more reason not to match.
  if (entity !== null) filters.set(JSON.stringify({ entity }), hasGroup)
  for (const property of properties) filters.set(JSON.stringify([entity, { ...property, path: '' }]), property)
  return filters
}

const hasGroup: ParsedProperty = {
  kind: 'flag',
  path: '',
  reference: '',
  expected: undefined,
  negated: false,
  inverted: false,
}

/** As `variantOf` of the evaluator chooses. */
function outcomeOf(condition: ParsedCondition, filters: ParsedFilters, hash: string): ValueShares {
  const keyed = (key: string) => filters.variants.some(variant => variant.key === key)
  if (condition.isOff) return oneValue(false)
  if (condition.variant !== null && keyed(condition.variant)) return oneValue(condition.variant || true)
  if (condition.split !== null) return splitShares(condition.split.parts, keyed, hash)
  return filters.variants.length === 0 ? oneValue(true) : variantShares(filters.variants, hash)
}
