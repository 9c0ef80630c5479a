import type { CohortDefinition } from '@halyard/engine'
import { type Flag, newFlagContent } from '../../domain/flag.ts'
import type { ProjectContent } from '../../evaluation/projects/served-project.ts'
import type { ApiKey } from '../../features/identity/api-key.ts'
import { parseWeighedJson } from '../../http/sdk-body/json-text.ts'
import type { Instant } from '../../instant.ts'
import type { Actor, Level, Project, User } from '../../tenancy.ts'
import { type Document, type Documents, documentOf } from './project-state.ts'

/** Domain ↔ documents: the part of a project that is replicated to edges. */

/** A user who can view the project with a personal API key. Only the hash of the key is replicated. */
export interface ProjectKey {
  readonly hash: string
  readonly id: string
  readonly userId: number
  readonly scopes: readonly string[]
  readonly projectIds: readonly number[]
  readonly organizationIds: readonly string[]
  readonly level: Level
  readonly expiresAt: Instant | null
  /** The project that `@current` means for the key's owner. */
  readonly currentProjectId: number | null
}

export const projectKey = (key: ApiKey, level: Level, currentProjectId: number | null): ProjectKey => ({
  hash: key.hash,
  id: key.id,
  userId: key.userId,
  scopes: key.scopes,
  projectIds: key.projectIds,
  organizationIds: key.organizationIds,
  level,
  expiresAt: key.expiresAt,
  currentProjectId,
})

const names = { project: 'project', flag: 'flag/', cohort: 'cohort/', secret: 'secret/', key: 'key/' } as const

/** Stand for all documents about access. */
export const accessNames: readonly string[] = [names.key, names.secret]

const entry = (name: string, value: unknown): readonly [string, Document] => [
  name,
  documentOf(name, JSON.stringify(value)),
]

export const projectEntry = (
  project: Omit<Project, 'createdAt' | 'updatedAt'>,
  hasPersons: boolean,
): readonly [string, Document] =>
  entry(names.project, {
    id: project.id,
    uuid: project.uuid,
    organizationId: project.organizationId,
    name: project.name,
    apiToken: project.apiToken,
    ...(project.previousToken && { previousToken: project.previousToken }),
    timezone: project.timezone,
    propertyMatchingVersion: project.propertyMatchingVersion,
    groupTypes: project.groupTypes,
    hasPersons,
  })

/** Authors, tags and history are not replicated. */
export type ReplicatedFlag = Pick<
  Flag,
  | 'id'
  | 'projectId'
  | 'name'
  | 'key'
  | 'filters'
  | 'active'
  | 'version'
  | 'ensureExperienceContinuity'
  | 'bucketingIdentifier'
  | 'evaluationRuntime'
  | 'evaluationContexts'
  | 'override'
>

export const flagEntry = (flag: ReplicatedFlag): readonly [string, Document] =>
  entry(`${names.flag}${flag.id}`, {
    id: flag.id,
    projectId: flag.projectId,
    name: flag.name,
    key: flag.key,
    filters: flag.filters,
    active: flag.active,
    version: flag.version,
    ensureExperienceContinuity: flag.ensureExperienceContinuity,
    bucketingIdentifier: flag.bucketingIdentifier,
    evaluationRuntime: flag.evaluationRuntime,
    evaluationContexts: flag.evaluationContexts,
    ...(flag.override && { override: flag.override }),
  })

export const cohortEntry = ({ id, name, isStatic, filters }: CohortDefinition): readonly [string, Document] =>
  entry(`${names.cohort}${id}`, { id, name, isStatic, filters })

export const secretEntry = (hash: string): readonly [string, Document] => entry(`${names.secret}${hash}`, true)

export const keyEntry = (key: ProjectKey): readonly [string, Document] => entry(`${names.key}${key.hash}`, key)

/** The fields of each kind of document that are used without another check. */
const fieldTypes: Readonly<Record<string, Readonly<Record<string, 'string' | 'number' | 'object'>>>> = {
  [names.project]: { id: 'number', uuid: 'string', organizationId: 'string', apiToken: 'string', groupTypes: 'object' },
  [names.flag]: { id: 'number', key: 'string', filters: 'object' },
  [names.cohort]: { id: 'number', filters: 'object' },
  [names.key]: { hash: 'string', id: 'string', scopes: 'object', projectIds: 'object', organizationIds: 'object' },
}

/** Whether the text is a document of the kind in its name. Kinds of a newer upstream are ignored. */
export function canRead(name: string, json: string): boolean {
  const kind = Object.keys(fieldTypes).find(prefix =>
    prefix === names.project ? name === prefix : name.startsWith(prefix),
  )
  if (kind === undefined) return true
  try {
    const value = parseWeighedJson(json) as Record<string, unknown> | null
    return Object.entries(fieldTypes[kind]!).every(
      ([field, type]) => typeof value?.[field] === type && value?.[field] !== null,
    )
  } catch {
    return false
  }
}

const unknownMoment: Instant = '1970-01-01T00:00:00.000000Z'
const unknownUser: User = { id: 0, uuid: '', distinctId: '', firstName: '', email: '', isEmailVerified: false }

export function readProject(documents: Documents): (Project & { readonly hasPersons: boolean }) | undefined {
  const document = documents.get(names.project)
  return document && { createdAt: unknownMoment, updatedAt: unknownMoment, ...JSON.parse(document.json) }
}

export function readFlag(documents: Documents, id: number): Flag | undefined {
  const document = documents.get(`${names.flag}${id}`)
  return document && toFlag(document)
}

const toFlag = ({ json }: Document): Flag => ({
  ...newFlagContent('', unknownMoment),
  createdBy: unknownUser,
  usageDashboardId: 0,
  updatedAt: unknownMoment,
  lastModifiedBy: null,
  activeSince: unknownMoment,
  ...JSON.parse(json),
})

export function readContent(documents: Documents): ProjectContent | undefined {
  const projectDocument = readProject(documents)
  if (!projectDocument) return undefined
  const { hasPersons, ...project } = projectDocument
  const flags = all(documents, names.flag).map(([, document]) => toFlag(document))
  const cohorts = all(documents, names.cohort).map(([, { json }]) => JSON.parse(json) as CohortDefinition)
  // In database order, so that responses are byte-identical.
  flags.sort((a, b) => (a.key < b.key ? -1 : 1))
  cohorts.sort((a, b) => a.id - b.id)
  return { project, flags, cohorts, hasPersons }
}

export const readSecrets = (documents: Documents): readonly string[] =>
  all(documents, names.secret).map(([name]) => name.slice(names.secret.length))

export const readKeys = (documents: Documents): readonly ProjectKey[] =>
  all(documents, names.key).map(([, { json }]) => JSON.parse(json) as ProjectKey)

/** The ids of the flags among some documents' names. */
export const flagIdsIn = (documentNames: readonly string[]): readonly number[] =>
  documentNames.filter(name => name.startsWith(names.flag)).map(name => Number(name.slice(names.flag.length)))

/** Whether any of these documents is about access. */
export const areAboutAccess = (documentNames: readonly string[]): boolean =>
  documentNames.some(name => name.startsWith(names.key) || name.startsWith(names.secret))

/** Whether anything besides single flags has changed. */
export const areAboutSurroundings = (documentNames: readonly string[]): boolean =>
  documentNames.some(name => name === names.project || name.startsWith(names.cohort) || name.startsWith(names.secret))

const all = (documents: Documents, prefix: string): (readonly [string, Document])[] =>
  [...documents].filter(([name]) => name.startsWith(prefix))

/** The owner of a key as an edge knows them: the projects that contain the key determine its access. */
export function actorOf(key: ProjectKey, levels: ReadonlyMap<string, Level>): { actor: Actor; key: ApiKey } {
  const { id, userId, scopes, projectIds, organizationIds, hash, expiresAt, currentProjectId } = key
  const common = { id, label: '', scopes, projectIds, organizationIds, isSession: false, expiresAt }
  return {
    key: { ...common, userId, hash, mask: '', createdAt: unknownMoment, lastUsedAt: null },
    actor: {
      user: { ...unknownUser, id: userId },
      isStaff: false,
      key: common,
      levels,
      currentOrganizationId: null,
      currentProjectId,
    },
  }
}
