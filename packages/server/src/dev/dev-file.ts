import type { CohortDefinition } from '@halyard/engine'
import type { ReplicatedFlag } from '../api/edge/project-documents.ts'
import { enabledForEveryone } from '../domain/flag.ts'
import { type JsonFile, JsonFileError, placeOf, positionOfKey } from './json-file.ts'

/** The definitions of a project, as `halyard dev pull` writes them to be committed: no keys, no persons, no authors. */
export interface DevProject {
  readonly id: number
  readonly name: string
  readonly groupTypes: Readonly<Record<string, string>>
  readonly propertyMatchingVersion: 1 | 2
  readonly flags: readonly ReplicatedFlag[]
  readonly cohorts: readonly CohortDefinition[]
}

type Wire = Readonly<Record<string, unknown>>

const format = 1

/** Sorted, and without what has its default, so that a pull after a change gives a small difference. */
export function writeDevFile({ flags, cohorts, ...project }: DevProject): string {
  const document = {
    halyard_dev: format,
    project: {
      id: project.id,
      name: project.name,
      group_types: project.groupTypes,
      property_matching_version: project.propertyMatchingVersion,
    },
    flags: [...flags].sort((a, b) => (a.key < b.key ? -1 : 1)).map(flagToWire),
    cohorts: [...cohorts]
      .sort((a, b) => a.id - b.id)
      .map(({ id, name, isStatic, filters }) => ({ id, name, ...(isStatic && { is_static: true }), filters })),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

const flagToWire = (flag: ReplicatedFlag): Wire => ({
  id: flag.id,
  key: flag.key,
  ...(flag.name !== '' && { name: flag.name }),
  active: flag.active,
  version: flag.version,
  ...(flag.ensureExperienceContinuity && { ensure_experience_continuity: true }),
  ...(flag.bucketingIdentifier !== null && { bucketing_identifier: flag.bucketingIdentifier }),
  ...(flag.evaluationRuntime !== null && { evaluation_runtime: flag.evaluationRuntime }),
  ...(flag.evaluationContexts.length > 0 && { evaluation_contexts: flag.evaluationContexts }),
  filters: flag.filters,
})

/** Raises JsonFileError. Files are also edited by hand: everything but id and key has a default. */
export function readDevFile(file: JsonFile): DevProject {
  const fail = (key: string, message: string): never => {
    throw new JsonFileError(`${placeOf(file.path, file.text, positionOfKey(file.text, key))}: ${message}`)
  }
  const { value } = file
  if (!isObject(value) || value.halyard_dev !== format)
    return fail('halyard_dev', `this is not a file of "halyard dev pull" (halyard_dev must be ${format}).`)
  const project = isObject(value.project) ? value.project : fail('project', '"project" must be an object.')
  const id = isId(project.id) ? project.id : fail('project', '"project.id" must be a positive whole number.')
  const flags = listOf(value.flags) ?? fail('flags', '"flags" must be a list of objects.')
  const cohorts = listOf(value.cohorts ?? []) ?? fail('cohorts', '"cohorts" must be a list of objects.')
  const problem = problemIn('flags', flags, ['key']) ?? problemIn('cohorts', cohorts, [])
  if (problem !== undefined) return fail(problem.list, problem.message)
  return {
    id,
    name: typeof project.name === 'string' ? project.name : 'Local development',
    groupTypes: namesOf(project.group_types),
    propertyMatchingVersion: project.property_matching_version === 1 ? 1 : 2,
    flags: flags.map(flag => readFlag(flag, id)),
    cohorts: cohorts.map(readCohort),
  }
}

/** A list element with a missing or repeated id or key. */
function problemIn(list: string, items: readonly Wire[], texts: readonly string[]) {
  const seen = new Set<unknown>()
  for (const [index, item] of items.entries()) {
    const place = `"${list}[${index}]`
    if (!isId(item.id)) return { list, message: `${place}.id" must be a positive whole number.` }
    const invalid = texts.find(name => typeof item[name] !== 'string' || item[name] === '')
    if (invalid !== undefined) return { list, message: `${place}.${invalid}" must be a text.` }
    if (item.filters !== undefined && !isObject(item.filters))
      return { list, message: `${place}.filters" must be an object.` }
    for (const identity of [item.id, ...texts.map(name => item[name])]) {
      if (seen.has(identity)) return { list, message: `${place}" repeats ${JSON.stringify(identity)}.` }
      seen.add(identity)
    }
  }
  return undefined
}

/** A flag of the file, or of the API, which has the same fields. */
export const readFlag = (wire: Wire, projectId: number): ReplicatedFlag => ({
  id: wire.id as number,
  projectId,
  key: wire.key as string,
  name: typeof wire.name === 'string' ? wire.name : '',
  active: wire.active !== false,
  version: typeof wire.version === 'number' ? wire.version : 1,
  filters: isObject(wire.filters) ? wire.filters : enabledForEveryone,
  ensureExperienceContinuity: wire.ensure_experience_continuity === true,
  bucketingIdentifier: oneOf(wire.bucketing_identifier, ['distinct_id', 'device_id']),
  evaluationRuntime: oneOf(wire.evaluation_runtime, ['server', 'client', 'all']),
  evaluationContexts: Array.isArray(wire.evaluation_contexts)
    ? wire.evaluation_contexts.filter(context => typeof context === 'string')
    : [],
})

export const readCohort = (wire: Wire): CohortDefinition => ({
  id: wire.id as number,
  name: typeof wire.name === 'string' ? wire.name : '',
  isStatic: wire.is_static === true,
  filters: isObject(wire.filters) ? wire.filters : {},
})

const oneOf = <T extends string>(value: unknown, choices: readonly T[]): T | null =>
  choices.find(choice => choice === value) ?? null

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0

const listOf = (value: unknown): readonly Wire[] | undefined =>
  Array.isArray(value) && value.every(isObject) ? value : undefined

const namesOf = (value: unknown): Record<string, string> =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
