import { compile, type EngineOptions, remapFilters, type Snapshot, type Subject } from '@halyard/engine'
import { withGroupTypes } from '../model/group-types.ts'
import { type ImportedProject, sourceIdOf, type TargetProject } from '../model/model.ts'

/** A person in the terms of every service. */
export interface ProofContext {
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
  /** By group type. */
  readonly groups?: Readonly<Record<string, ProofGroup>>
}

export interface ProofGroup {
  readonly key: string
  readonly attributes: Readonly<Record<string, unknown>>
}

export function subjectOf({ id, attributes, groups = {} }: ProofContext): Subject {
  const entries = Object.entries(groups)
  return {
    distinctId: id,
    personProperties: attributes,
    groups: Object.fromEntries(entries.map(([type, { key }]) => [type, key])),
    groupProperties: Object.fromEntries(entries.map(([type, group]) => [type, group.attributes])),
  }
}

/** A project without group types of its own. */
export const emptyTarget: TargetProject = { groupTypes: {}, propertyMatchingVersion: 2 }

/** `off` stands for false, null and no value. Everything else is the value of the flag, or true. */
export const OFF = 'off: no value'

export const normalized = (value: unknown): unknown =>
  value === undefined || value === null || value === false ? OFF : value

/** Compiles imported flags as the server would store them. */
export function compileImported(
  project: ImportedProject,
  regex: EngineOptions['regex'],
  target: TargetProject = emptyTarget,
): Snapshot {
  const flagIds = new Map(project.flags.map(({ sourceId }, index) => [sourceId, index + 1]))
  const cohortIds = new Map(project.cohorts.map(({ sourceId }, index) => [sourceId, index + 1]))
  const { groupTypes, propertyMatchingVersion } = withGroupTypes(target, project)
  const typeIndexes = new Map(Object.entries(groupTypes).map(([index, name]) => [name, Number(index)]))
  const resolved = <T>(filters: T): T =>
    remapFilters(filters, {
      cohort: id => cohortIds.get(sourceIdOf(id) ?? ''),
      flag: id => flagIds.get(sourceIdOf(id) ?? ''),
      groupType: index => typeIndexes.get(sourceIdOf(index) ?? ''),
    })
  return compile(
    {
      flags: project.flags.map(
        ({ sourceId, key, active, archived, filters, ensureExperienceContinuity, bucketingIdentifier }) => ({
          id: flagIds.get(sourceId)!,
          key,
          active: active && !archived,
          filters: resolved(filters),
          ...(ensureExperienceContinuity !== undefined && { ensureExperienceContinuity }),
          ...(bucketingIdentifier !== undefined && { bucketingIdentifier }),
        }),
      ),
      cohorts: project.cohorts.map(({ sourceId, name, content }) => ({
        id: cohortIds.get(sourceId)!,
        name,
        isStatic: 'ids' in content,
        filters: 'filters' in content ? resolved(content.filters) : {},
      })),
      groupTypes,
      propertyMatchingVersion,
    },
    { regex },
  )
}

/** The value of every flag for one person, by key. */
export function evaluateImported(
  { source }: Pick<ImportedProject, 'source'>,
  snapshot: Snapshot,
  context: ProofContext,
  now: number,
): Map<string, unknown> {
  // Only where a service has no payloads beside the value, the payload is the value.
  const hasPayloads = source === 'posthog' || source === 'flipt'
  const results = snapshot.evaluate(subjectOf(context), { now })
  return new Map(
    snapshot.flags.map(({ key }) => {
      const { value, payload, failed } = results.get(key)!
      if (failed) return [key, 'failed']
      const isPayload = typeof value === 'string' && payload !== null && !hasPayloads
      return [key, normalized(isPayload ? JSON.parse(payload) : value)]
    }),
  )
}
