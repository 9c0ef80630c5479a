import {
  accessNames,
  actorOf,
  areAboutAccess,
  areAboutSurroundings,
  flagIdsIn,
  type ProjectKey,
  readContent,
  readFlag,
  readKeys,
  readProject,
  readSecrets,
} from '../api/edge/project-documents.ts'
import { changeBetween, type ProjectState } from '../api/edge/project-state.ts'
import type { ProjectStates } from '../api/edge/project-states.ts'
import { mayHandOn } from '../api/edge/stored-states.ts'
import type { ProjectSource } from '../evaluation/projects/project-source.ts'
import type { IdentityStore } from '../features/identity/identity-store.sql.ts'
import { type Instant, instantOf } from '../instant.ts'
import { forbidden } from '../problem.ts'
import type { Change, ChangeListener } from '../storage/changes/changes.ts'
import type { Level, Project } from '../tenancy.ts'

/** The replicated projects of the upstream, served here and replicated to further edges. */
export interface Replica {
  readonly projects: ProjectSource
  readonly states: ProjectStates
  readonly findActor: IdentityStore['findActor']
  /** There are no gaps: every change comes from `put`. */
  readonly changes: { subscribe(listener: ChangeListener): () => void }
  findByUuid(uuid: string): Project | undefined
  findById(projectId: number): Project | undefined
  stateOf(uuid: string): ProjectState | undefined
  all(): readonly ProjectState[]
  readonly bytes: number
  /** Replaces the state of a project. Resolves when it is being served. */
  put(state: ProjectState): Promise<void>
  /** Whether the personal and secret keys in the state are accepted. A change ends what they have opened. */
  acceptKeys(isAccepted: boolean): void
  remove(uuid: string): Promise<void>
}

interface Held {
  readonly state: ProjectState
  readonly project: Project
  readonly secrets: readonly string[]
  readonly keys: readonly ProjectKey[]
}

export function createReplica(): Replica {
  const held = new Map<number, Held>()
  const idByUuid = new Map<string, number>()
  const idByToken = new Map<string, number>()
  const idBySecret = new Map<string, number>()
  /** The number of projects that contain a key, by its hash. */
  const keys = new Map<string, Map<number, ProjectKey>>()
  const listeners = new Set<ChangeListener>()
  const stateListeners = new Set<(projectId: number | undefined) => void>()
  let bytes = 0
  let areKeysAccepted = true

  function enter(one: Held): void {
    const { id, uuid, apiToken, previousToken } = one.project
    held.set(id, one)
    idByUuid.set(uuid, id)
    idByToken.set(apiToken, id)
    if (previousToken) idByToken.set(previousToken.token, id)
    for (const hash of one.secrets) idBySecret.set(hash, id)
    for (const key of one.keys) keys.set(key.hash, (keys.get(key.hash) ?? new Map()).set(id, key))
    bytes += one.state.bytes
  }

  function leave({ project, state, secrets, keys: heldKeys }: Held): void {
    held.delete(project.id)
    idByUuid.delete(project.uuid)
    idByToken.delete(project.apiToken)
    if (project.previousToken) idByToken.delete(project.previousToken.token)
    for (const hash of secrets) idBySecret.delete(hash)
    for (const { hash } of heldKeys) {
      keys.get(hash)?.delete(project.id)
      if (keys.get(hash)?.size === 0) keys.delete(hash)
    }
    bytes -= state.bytes
  }

  async function notify(project: Project, names: readonly string[], at: Instant): Promise<void> {
    const about = { sequence: 0, organizationId: project.organizationId, projectId: project.id, at }
    const changes: Change[] = flagIdsIn(names).map(id => ({ ...about, topic: 'flag', entityId: String(id) }))
    if (areAboutSurroundings(names)) changes.push({ ...about, topic: 'project', entityId: String(project.id) })
    if (areAboutAccess(names)) changes.push({ ...about, topic: 'identity', entityId: '' })
    for (const listener of listeners) await listener(changes)
    const isForAll = areAboutAccess(names) || !held.has(project.id)
    for (const listener of stateListeners) listener(isForAll ? undefined : project.id)
  }

  return {
    projects: {
      findIdByToken: async token => idByToken.get(token),
      findIdBySecretKey: async hash => (areKeysAccepted ? idBySecret.get(hash) : undefined),
      async read(projectId) {
        const one = held.get(projectId)
        return one && readContent(one.state.documents)
      },
      async readFlags(projectId, flagIds) {
        const one = held.get(projectId)
        return one ? flagIds.flatMap(id => readFlag(one.state.documents, id) ?? []) : []
      },
    },
    states: {
      async visibleTo(actor) {
        const ids = [...held.values()]
          .filter(({ project }) => mayHandOn(actor, project))
          .map(({ project }) => project.id)
        if (ids.length === 0) throw forbidden('This edge has no project that the key can replicate.')
        return ids
      },
      find: async projectId => held.get(projectId)?.state,
      keep: () => () => {},
      onChange(listener) {
        stateListeners.add(listener)
        return () => stateListeners.delete(listener)
      },
      close() {},
    },
    async findActor(hash) {
      const places = areKeysAccepted ? keys.get(hash) : undefined
      const [key] = places?.values() ?? []
      if (!places || !key) return undefined
      const levels = new Map<string, Level>()
      for (const [projectId, { level }] of places) levels.set(held.get(projectId)!.project.organizationId, level)
      return actorOf(key, levels)
    },
    changes: {
      subscribe(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    findByUuid: uuid => held.get(idByUuid.get(uuid) ?? -1)?.project,
    findById: projectId => held.get(projectId)?.project,
    stateOf: uuid => held.get(idByUuid.get(uuid) ?? -1)?.state,
    all: () => [...held.values()].map(({ state }) => state),
    get bytes() {
      return bytes
    },
    async put(state) {
      const { documents } = state
      const projectDocument = readProject(documents)
      if (projectDocument?.uuid !== state.project)
        throw new Error(`The state of project ${state.project} lacks the project itself.`)
      const { hasPersons: _hasPersons, ...project } = projectDocument
      // Parsed before anything is replaced: an invalid document must not drop the served state.
      const next = { state, project, secrets: readSecrets(documents), keys: readKeys(documents) }
      const before = held.get(idByUuid.get(project.uuid) ?? -1)
      if (before) leave(before)
      // Another installation may use the same id for another project.
      const other = held.get(project.id)
      if (other) await this.remove(other.project.uuid)
      enter(next)
      const { set, removed } = changeBetween(before?.state.documents, documents)
      await notify(project, [...set.map(([name]) => name), ...removed], instantOf(new Date()))
    },
    acceptKeys(isAccepted) {
      if (isAccepted === areKeysAccepted) return
      areKeysAccepted = isAccepted
      for (const { project } of held.values()) void notify(project, accessNames, instantOf(new Date()))
    },
    async remove(uuid) {
      const one = held.get(idByUuid.get(uuid) ?? -1)
      if (!one) return
      leave(one)
      await notify(one.project, [...one.state.documents.keys()], instantOf(new Date()))
    },
  }
}
