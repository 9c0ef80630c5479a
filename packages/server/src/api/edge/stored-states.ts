import { edgeProjectsMax } from '@halyard/contract/limits'
import type { Flag } from '../../domain/flag.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import type { ApiKey } from '../../features/identity/api-key.ts'
import { currentProject, visibleProjects } from '../../features/identity/authenticator.ts'
import { forbidden, Problem } from '../../problem.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import type { Database, Stores } from '../../stores.ts'
import { type Actor, adminLevel, hasAnyScope, levelInProject, type Project } from '../../tenancy.ts'
import { cohortEntry, flagEntry, keyEntry, projectEntry, projectKey, secretEntry } from './project-documents.ts'
import { type Document, type Documents, type ProjectState, projectState } from './project-state.ts'
import type { ProjectStates } from './project-states.ts'

interface Deps {
  readonly database: Pick<Database, 'read'>
  readonly snapshots: Snapshots
  readonly changes: Pick<ChangeFeed, 'subscribe'>
}

/** Further keys are not replicated, and edges reject them. */
export const keysPerProjectMax = 10_000
const secretsPerProjectMax = 1000

interface Entry {
  keepers: number
  letGo: (() => void) | undefined
  access: Documents | undefined
  /** Incremented by every change of access, so that earlier reads are not cached. */
  accessChanges: number
  made: { readonly served: ServedProject; readonly access: Documents; readonly state: ProjectState } | undefined
}

/** States from the projects in memory and the keys in the database. Computed on demand, so that a burst of changes costs one computation. */
export function createStoredStates({ database, snapshots, changes }: Deps): ProjectStates {
  const entries = new Map<number, Entry>()
  const listeners = new Set<(projectId: number | undefined) => void>()
  const flagEntries = createFlagMemory()
  /** By organization, until access changes: its projects share most keys. */
  const keyHolders = new Map<string, Promise<readonly KeyHolder[]>>()

  function keyHoldersOf(organizationId: string): Promise<readonly KeyHolder[]> {
    const cached = keyHolders.get(organizationId)
    if (cached) return cached
    const reading = database.read(tx => readKeyHolders(tx, organizationId))
    keyHolders.set(organizationId, reading)
    reading.catch(() => {
      if (keyHolders.get(organizationId) === reading) keyHolders.delete(organizationId)
    })
    return reading
  }

  const notify = (projectId: number | undefined) => {
    for (const listener of listeners) listener(projectId)
  }

  async function accessOf(project: Project, entry: Entry | undefined): Promise<Documents> {
    if (entry?.access) return entry.access
    const begun = entry?.accessChanges
    const secrets = await database.read(tx =>
      tx.projects.listSecretKeys(project.id, { limit: secretsPerProjectMax, offset: 0 }),
    )
    const access = new Map(secrets.items.map(({ hash }) => secretEntry(hash)))
    for (const [name, document] of keyEntries(project, await keyHoldersOf(project.organizationId)))
      access.set(name, document)
    if (entry && entry.accessChanges === begun) entry.access = access
    return access
  }

  function stateOf(served: ServedProject, access: Documents): ProjectState {
    const documents = new Map<string, Document>([projectEntry(served.project, served.hasPersons)])
    for (const flag of served.flags.values()) documents.set(...flagEntries(flag))
    for (const cohort of served.cohorts) documents.set(...cohortEntry(cohort))
    for (const [name, document] of access) documents.set(name, document)
    return projectState(served.project.uuid, documents)
  }

  /** Reads access again, then all states that differ from what was sent. */
  const restart = () => {
    keyHolders.clear()
    for (const entry of entries.values()) {
      entry.access = undefined
      entry.accessChanges += 1
    }
    notify(undefined)
  }

  const unsubscribe = changes.subscribe(batch => {
    for (const { topic, projectId } of batch) {
      if (topic === 'identity' || topic === 'project') restart()
      else if (projectId !== null && entries.has(projectId)) notify(projectId)
    }
  }, restart)
  // Changes during a database outage are read later; the change feed does not repeat them.
  const unsubscribeSwaps = snapshots.onSwap(({ project }) => {
    if (entries.has(project.id)) notify(project.id)
  })

  return {
    async visibleTo(actor) {
      const page = await database.read(tx =>
        tx.projects.list(visibleProjects(actor), { limit: edgeProjectsMax + 1, offset: 0 }),
      )
      const ids = page.items.filter(project => mayHandOn(actor, project)).map(({ id }) => id)
      if (ids.length === 0)
        throw forbidden('Edges require a key of an admin; the user of this key is not an admin of any project.')
      if (ids.length > edgeProjectsMax) {
        throw new Problem(
          'too_large',
          `An edge can replicate at most ${edgeProjectsMax} projects. Restrict the key to fewer projects.`,
        )
      }
      return ids
    },
    async find(projectId) {
      const served = await snapshots.forProject(projectId)
      if (!served) return undefined
      const entry = entries.get(projectId)
      if (entry) entry.letGo ??= snapshots.keep(projectId)
      const access = await accessOf(served.project, entry)
      if (entry?.made?.served === served && entry.made.access === access) return entry.made.state
      const state = stateOf(served, access)
      if (entry) entry.made = { served, access, state }
      return state
    },
    keep(projectId) {
      const entry = entries.get(projectId) ?? newEntry()
      entries.set(projectId, entry)
      entry.keepers += 1
      return () => {
        entry.keepers -= 1
        if (entry.keepers > 0) return
        entry.letGo?.()
        entries.delete(projectId)
        if (entries.size === 0) keyHolders.clear()
      }
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      unsubscribe()
      unsubscribeSwaps()
    },
  }
}

const newEntry = (): Entry => ({
  keepers: 0,
  letGo: undefined,
  access: undefined,
  accessChanges: 0,
  made: undefined,
})

/** An edge receives the hashes of other users' keys: only admins may set that up. */
export const mayHandOn = (actor: Actor, project: Pick<Project, 'id' | 'organizationId'>): boolean =>
  (levelInProject(actor, project) ?? 0) >= adminLevel

/** The scopes that edges check. */
const scopesUsedAtEdges = ['feature_flag:read', 'edge:read']

/** A user's key, and the project that `@current` means for it. */
interface KeyHolder {
  readonly actor: Actor
  readonly key: ApiKey
  readonly placeId: number | null
}

async function readKeyHolders(tx: Stores, organizationId: string): Promise<readonly KeyHolder[]> {
  const holders: KeyHolder[] = []
  for (const { actor, key } of await tx.identity.listActors(organizationId, keysPerProjectMax)) {
    if (!hasAnyScope(key, scopesUsedAtEdges)) continue
    const place = await currentProject(tx.projects, actor)
    holders.push({ actor, key, placeId: place?.id ?? null })
  }
  return holders
}

function* keyEntries(project: Project, holders: readonly KeyHolder[]): Generator<readonly [string, Document]> {
  for (const { actor, key, placeId } of holders) {
    const level = levelInProject(actor, project)
    if (level !== undefined) yield keyEntry(projectKey(key, level, placeId))
  }
}

/** A flag's document is cached as long as the flag object lives. */
function createFlagMemory(): (flag: Flag) => readonly [string, Document] {
  const entryByFlag = new WeakMap<Flag, readonly [string, Document]>()
  return flag => {
    const made = entryByFlag.get(flag) ?? flagEntry(flag)
    entryByFlag.set(flag, made)
    return made
  }
}
