import { isRecord, type JsonRecord, listOf } from '../importers/document.ts'
import { readDocument as readLaunchDarkly } from '../importers/launchdarkly/read-document.ts'
import { readDocument as readUnleash } from '../importers/unleash/read-document.ts'
import type { ImportOptions, ImportSource } from '../model/model.ts'

/** The document as the service's own SDK reads it; most documents are that already. Call the converter first: it validates. */
export function sdkDocumentOf(source: ImportSource, document: unknown, { environment }: ImportOptions): unknown {
  switch (source) {
    case 'launchdarkly':
      return launchDarklyData(document, environment)
    case 'unleash':
      return unleashFeatures(document, environment)
    case 'posthog':
      return postHogDefinitions(document)
    case 'flipt':
      return fliptSnapshot(document)
    default:
      return document
  }
}

function launchDarklyData(document: unknown, environment: string | undefined) {
  const { flags, segments } = readLaunchDarkly(document, environment)
  return {
    flags: Object.fromEntries(
      flags.map(({ key, state, variations }) => [
        key,
        { salt: '', version: 1, ...state, key, variations: variations.map(({ value }) => value) },
      ]),
    ),
    segments: Object.fromEntries(
      segments.map(({ key, state }) => [key, { salt: '', version: 1, rules: [], ...state, key }]),
    ),
  }
}

function unleashFeatures(document: unknown, environment: string | undefined) {
  const { features, segments } = readUnleash(document, environment)
  return {
    features: features.map(({ name, enabled, strategies, variants, dependencies }) => ({
      name,
      enabled,
      strategies: strategies.map(({ path: _, variants: own, segments: used, ...strategy }) => ({
        ...strategy,
        ...(used.length > 0 && { segments: used }),
        ...(own.length > 0 && { variants: own }),
      })),
      variants,
      dependencies,
    })),
    segments: segments.map(({ id, constraints }) => ({ id, constraints: constraints ?? [] })),
  }
}

/** As `/flags/definitions` serves them: cohorts by id, and dependencies by key with all that come before. */
function postHogDefinitions(document: unknown) {
  const root: JsonRecord = isRecord(document) && document.flags !== undefined ? document : { flags: document }
  const itemsOf = (value: unknown): JsonRecord[] =>
    listOf(isRecord(value) ? value.results : value).filter(item => isRecord(item) && item.deleted !== true) as never
  const flags = itemsOf(root.flags)
  const byReference = new Map(flags.flatMap(flag => [flag.id, flag.key].map(name => [String(name), flag] as const)))

  function chainOf(reference: string, open: readonly string[] = []): string[] {
    const flag = byReference.get(reference)
    if (flag === undefined || open.includes(String(flag.key))) return []
    const used = references(flag.filters).flatMap(other => chainOf(other, [...open, String(flag.key)]))
    return [...new Set([...used, String(flag.key)])]
  }
  function rewrite(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(rewrite)
    if (!isRecord(value)) return value
    const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, rewrite(inner)]))
    if (copy.type !== 'flag') return copy
    const chain = chainOf(String(copy.key))
    return { ...copy, key: chain.at(-1) ?? copy.key, dependency_chain: chain }
  }
  return {
    flags: flags.map(flag => ({ ...flag, filters: rewrite(flag.filters) })),
    cohorts: Object.fromEntries(
      itemsOf(root.cohorts).map(({ id, filters }) => [
        String(id),
        isRecord(filters) ? rewrite(filters.properties) : {},
      ]),
    ),
    group_type_mapping: isRecord(root.group_type_mapping) ? root.group_type_mapping : {},
    property_matching_version: 2,
  }
}

function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references)
  if (!isRecord(value)) return []
  return [...(value.type === 'flag' ? [String(value.key)] : []), ...Object.values(value).flatMap(references)]
}

/** What Flipt's server sends to clients that evaluate: segments are inlined, and rules have ranks. */
function fliptSnapshot(document: unknown) {
  const root = document as { readonly flags: readonly JsonRecord[]; readonly segments?: readonly JsonRecord[] }
  const segmentsByKey = new Map((root.segments ?? []).map(segment => [String(segment.key), segment]))
  const segmentsOf = (holder: JsonRecord) => {
    const named = isRecord(holder.segment) ? holder.segment : holder
    const single = typeof holder.segment === 'string' ? holder.segment : named.key
    const keys = typeof single === 'string' ? [single] : listOf(named.keys ?? holder.segments).map(String)
    return {
      segmentOperator: named.operator ?? holder.operator ?? holder.segment_operator ?? 'OR_SEGMENT_OPERATOR',
      segments: keys.map(key => {
        const { match_type: type, constraints } = segmentsByKey.get(key) ?? {}
        const matchType = type === 'ANY_MATCH_TYPE' ? 'ANY_SEGMENT_MATCH_TYPE' : 'ALL_SEGMENT_MATCH_TYPE'
        return {
          key,
          matchType,
          constraints: listOf(constraints).map((constraint, id) => fliptConstraint(constraint, id)),
        }
      }),
    }
  }
  return {
    namespace: { key: 'default' },
    flags: root.flags.map(flag => ({
      key: flag.key,
      name: flag.name ?? flag.key,
      description: '',
      enabled: flag.enabled === true,
      type: flag.type ?? 'VARIANT_FLAG_TYPE',
      defaultVariant: defaultVariantOf(flag),
      rules: listOf(flag.rules)
        .filter(isRecord)
        .map((rule, index) => ({
          id: String(index),
          rank: index + 1,
          ...segmentsOf(rule),
          distributions: listOf(rule.distributions)
            .filter(isRecord)
            .map(({ variant, rollout }) => ({
              rollout,
              variantKey: variant,
              variantAttachment: '',
            })),
        })),
      rollouts: listOf(flag.rollouts)
        .filter(isRecord)
        .map((rollout, index) => ({
          type: isRecord(rollout.threshold) ? 'THRESHOLD_ROLLOUT_TYPE' : 'SEGMENT_ROLLOUT_TYPE',
          rank: index + 1,
          ...(isRecord(rollout.threshold)
            ? { threshold: rollout.threshold }
            : {
                segment: {
                  value: isRecord(rollout.segment) && rollout.segment.value === true,
                  ...segmentsOf(rollout.segment as JsonRecord),
                },
              }),
        })),
    })),
  }
}

const fliptConstraint = (constraint: unknown, id: number) => {
  const { type, property, operator, value = '' } = isRecord(constraint) ? constraint : {}
  const comparison = String(type).replace(/_COMPARISON_TYPE$/, '_CONSTRAINT_COMPARISON_TYPE')
  return { id: String(id), type: comparison, property: property ?? '', operator, value: String(value) }
}

function defaultVariantOf(flag: JsonRecord) {
  const defaultVariant = listOf(flag.variants).find(variant => isRecord(variant) && variant.default === true)
  return isRecord(defaultVariant) ? { id: String(defaultVariant.key), key: defaultVariant.key, attachment: '' } : null
}
