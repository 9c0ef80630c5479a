import { ImportFileError } from '../../model/model.ts'
import { isRecord, type JsonRecord, listOf, requireList, requireRecord, requireText, textOr } from '../document.ts'

/** A feature as Unleash gives it to SDKs. */
export interface SourceFeature {
  readonly name: string
  readonly path: string
  readonly description: string
  readonly enabled: boolean
  readonly archived: boolean
  readonly tags: readonly string[]
  readonly strategies: readonly SourceStrategy[]
  readonly variants: readonly unknown[]
  readonly dependencies: readonly unknown[]
}

export interface SourceStrategy {
  readonly path: string
  readonly name: string
  readonly parameters: JsonRecord
  readonly constraints: readonly unknown[]
  readonly segments: readonly string[]
  readonly variants: readonly unknown[]
}

export interface SourceSegment {
  readonly id: string
  readonly name: string
  readonly path: string
  /** Null in exports, which only name segments. */
  readonly constraints: readonly unknown[] | null
}

export interface SourceDocument {
  readonly environment: string | null
  readonly features: readonly SourceFeature[]
  readonly segments: readonly SourceSegment[]
}

/** The document that SDKs download, or an export of the admin API. */
export function readDocument(document: unknown, environment: string | undefined): SourceDocument {
  const root = requireRecord(document, '', 'The document')
  if (!Array.isArray(root.features)) throw new ImportFileError('`features` must be an array.', 'features')
  const segments = requireList(root.segments, 'segments', '`segments`').map(readSegment)
  if (Array.isArray(root.featureStrategies) || Array.isArray(root.featureEnvironments)) {
    return readExport(root, environment, segments)
  }
  const features = root.features.map((value: unknown, index): SourceFeature => {
    const path = `features[${index}]`
    const feature = requireRecord(value, path, 'A feature')
    return {
      ...headOf(feature, path),
      enabled: feature.enabled === true,
      tags: [],
      strategies: requireList(feature.strategies, `${path}.strategies`, '`strategies`').map((strategy, at) =>
        readStrategy(strategy, `${path}.strategies[${at}]`),
      ),
      variants: listOf(feature.variants),
      dependencies: listOf(feature.dependencies),
    }
  })
  return { environment: null, features, segments }
}

const headOf = (feature: JsonRecord, path: string) => ({
  name: requireText(feature.name, `${path}.name`, '`name`'),
  path,
  description: textOr(feature.description, ''),
  archived: feature.archived === true || typeof feature.archivedAt === 'string',
})

function readStrategy(value: unknown, path: string): SourceStrategy {
  const strategy = requireRecord(value, path, 'A strategy')
  return {
    path,
    name: textOr(strategy.name, ''),
    parameters: isRecord(strategy.parameters) ? strategy.parameters : {},
    constraints: listOf(strategy.constraints),
    segments: listOf(strategy.segments).map(String),
    variants: listOf(strategy.variants),
  }
}

function readSegment(value: unknown, index: number): SourceSegment {
  const path = `segments[${index}]`
  const segment = requireRecord(value, path, 'A segment')
  const id = String(segment.id ?? '')
  return {
    id,
    path,
    name: textOr(segment.name, '') || `Segment ${id}`,
    constraints: Array.isArray(segment.constraints) ? segment.constraints : null,
  }
}

function readExport(root: JsonRecord, wanted: string | undefined, segments: readonly SourceSegment[]): SourceDocument {
  const states = recordsIn(root.featureEnvironments)
  const environment = chooseEnvironment(environmentsInUnleash(root), wanted)
  const strategies = recordsIn(root.featureStrategies)
  const tags = recordsIn(root.featureTags)
  const dependencies = recordsIn(root.dependencies)
  const features = recordsIn(root.features).map(({ record, index }): SourceFeature => {
    const head = headOf(record, `features[${index}]`)
    const state = states.find(
      ({ record: other }) =>
        other.featureName === head.name && (other.environment ?? other.name ?? '') === (environment ?? ''),
    )?.record
    return {
      ...head,
      enabled: state?.enabled === true,
      tags: tags.flatMap(({ record: tag }) => (tag.featureName === head.name ? [textOr(tag.tagValue, '')] : [])),
      strategies: strategies
        .filter(({ record: strategy }) => strategy.featureName === head.name && strategy.disabled !== true)
        .sort((left, right) => Number(left.record.sortOrder ?? 0) - Number(right.record.sortOrder ?? 0))
        .map(({ record: strategy, index: at }) => readStrategy(strategy, `featureStrategies[${at}]`)),
      variants: listOf(state?.variants ?? record.variants),
      dependencies: dependencies.flatMap(({ record: entry }) =>
        entry.feature === head.name ? listOf(entry.dependencies) : [],
      ),
    }
  })
  return { environment, features, segments }
}

/** Only exports have several. */
export function environmentsInUnleash(document: unknown): string[] {
  const states = recordsIn(isRecord(document) ? document.featureEnvironments : undefined)
  return [...new Set(states.map(({ record }) => String(record.environment ?? record.name ?? '')))]
}

function chooseEnvironment(environments: readonly string[], wanted: string | undefined): string | null {
  if (wanted !== undefined) {
    if (environments.includes(wanted)) return wanted
    const names = environments.join(', ')
    throw new ImportFileError(`There is no environment "${wanted}"; the file has ${names}.`, 'featureEnvironments')
  }
  if (environments.length <= 1) return environments[0] ?? null
  throw new ImportFileError(`Choose an environment: ${environments.join(', ')}.`, 'featureEnvironments')
}

const recordsIn = (value: unknown): { readonly record: JsonRecord; readonly index: number }[] =>
  listOf(value).flatMap((record, index) => (isRecord(record) ? [{ record, index }] : []))
