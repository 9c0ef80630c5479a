import { compile, type Requirements, type Snapshot, type Subject, usesCohorts } from '@halyard/engine'
import {
  type DefinitionsDocument,
  type ReceivedFlag,
  readFlag,
  readSurroundings,
  type Surroundings,
} from './definitions.ts'
import { linearRegex } from './linear-regex.ts'

/** A change of some flags, as the stream sends it. */
export interface DefinitionsChange {
  readonly flags: readonly unknown[]
  readonly removed: readonly number[]
}

/** The flags of a project at one moment, ready for evaluation. Immutable. */
export interface FlagState {
  readonly snapshot: Snapshot
  /** Identifies the content; the server resumes from here. */
  readonly digest: string | undefined
  readonly flags: ReadonlyMap<number, ReceivedFlag>
  readonly surroundings: Surroundings
  readonly document: Omit<DefinitionsDocument, 'flags'>
  /** What each flag and its dependencies read; filled when a flag is evaluated for the first time. */
  readonly requirements: Map<string, Requirements>
}

/** Raises `InvalidDefinitions`. */
export function stateOf({ flags, ...document }: DefinitionsDocument, digest: string | undefined): FlagState {
  return compileState(receivedById(flags), document, digest)
}

/** Raises `InvalidDefinitions`. */
export function changedState(state: FlagState, change: DefinitionsChange, digest: string | undefined): FlagState {
  const changed = receivedById(change.flags)
  const flags = new Map(state.flags)
  for (const id of change.removed) flags.delete(id)
  for (const [id, flag] of changed) flags.set(id, flag)
  const cohortIds = new Set(state.surroundings.cohorts.map(({ id }) => id))
  const usesNewCohort = [...changed.values()].some(({ definition }) =>
    usesCohorts(definition.filters).some(id => !cohortIds.has(id)),
  )
  if (usesNewCohort) return compileState(flags, state.document, digest)
  const snapshot = state.snapshot.update({
    flags: Array.from(changed.values(), ({ definition }) => definition),
    removed: change.removed,
  })
  return { ...state, snapshot, digest, flags, requirements: new Map() }
}

function compileState(
  flags: ReadonlyMap<number, ReceivedFlag>,
  document: FlagState['document'],
  digest: string | undefined,
): FlagState {
  const surroundings = readSurroundings({ ...document, flags: [] }, flags.values())
  const definitions = Array.from(flags.values(), ({ definition }) => definition)
  const snapshot = compile({ ...surroundings, flags: definitions }, { regex: linearRegex })
  return { snapshot, digest, flags, surroundings, document, requirements: new Map() }
}

const receivedById = (flags: readonly unknown[]): Map<number, ReceivedFlag> =>
  new Map(flags.map(readFlag).map(flag => [flag.definition.id, flag]))

/** The keys of the flags whose values may differ between two states: changed, new and removed ones, and those that depend on them. */
export function changedKeys(before: FlagState | undefined, after: FlagState): string[] {
  const keys = new Set<string>()
  const isOther = before === undefined || !isSame(before, after)
  for (const [id, { definition, json }] of after.flags) {
    const old = before?.flags.get(id)
    if (isOther || old?.json !== json) keys.add(definition.key)
    if (old !== undefined && old.definition.key !== definition.key) keys.add(old.definition.key)
  }
  for (const [id, { definition }] of before?.flags ?? []) if (!after.flags.has(id)) keys.add(definition.key)
  return [...withDependents(keys, after)]
}

const isSame = (before: FlagState, after: FlagState): boolean =>
  before.document === after.document || JSON.stringify(before.document) === JSON.stringify(after.document)

function withDependents(keys: Set<string>, { snapshot, flags }: FlagState): Set<string> {
  const dependents = new Map<string, string[]>()
  for (const { key, references } of snapshot.flags) {
    for (const reference of references) {
      const target = flags.get(Number(reference))?.definition.key ?? reference
      dependents.set(target, [...(dependents.get(target) ?? []), key])
    }
  }
  for (const key of keys) for (const dependent of dependents.get(key) ?? []) keys.add(dependent)
  return keys
}

/** Whether the value depends on what only the server has stored: properties, static cohorts, earlier ids of the person. */
export function needsStoredPerson(state: FlagState, key: string, subject: Subject): boolean {
  const needed = state.requirements.get(key) ?? state.snapshot.requirementsOf(key)
  if (needed === undefined) return false
  state.requirements.set(key, needed)
  if (needed.staticCohorts.size > 0 || needed.continuityFlags.length > 0) return true
  const { personProperties = {}, groups = {}, groupProperties = {} } = subject
  for (const name of needed.personProperties) {
    if (name !== 'distinct_id' && !Object.hasOwn(personProperties, name)) return true
  }
  for (const [type, names] of needed.groupProperties) {
    if (!Object.hasOwn(groups, type)) continue
    const properties = Object.hasOwn(groupProperties, type) ? groupProperties[type]! : {}
    for (const name of names) if (name !== '$group_key' && !Object.hasOwn(properties, name)) return true
  }
  return false
}

/** The document that produced the state, to be stored. */
export function documentOf({ flags, document }: FlagState): string {
  const pieces = Array.from(flags.values(), ({ json }) => json)
  return `{"flags":[${pieces.join(',')}],${JSON.stringify(document).slice(1)}`
}
