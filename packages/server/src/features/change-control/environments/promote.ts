import { createHash } from 'node:crypto'
import { usesFlags } from '@halyard/engine'
import type { ApprovalNeeded } from '../../../domain/approval.ts'
import type { Flag, FlagPatch, FreeObject } from '../../../domain/flag.ts'
import type { Actor, Organization } from '../../../tenancy.ts'
import { copyInto, findProject, findSource, type Source } from '../../flags/copies/copy-flag.ts'
import type { Gate } from '../gate.ts'
import type { Environment } from './environment.ts'

export const parts = ['filters', 'payloads', 'tags', 'active'] as const
export type Part = (typeof parts)[number]

export interface Promotion {
  readonly keys: readonly string[]
  readonly from: number
  readonly to: Environment
  readonly parts: ReadonlySet<Part>
}

/** The outcome for one flag. */
export interface Promoted {
  readonly key: string
  readonly before: Flag | undefined
  /** Undefined when it needs approval. */
  readonly after: Flag | undefined
  /** Names of cohorts that were created along with it. */
  readonly newCohorts: readonly string[]
  readonly dependencies: readonly string[]
  readonly needed: ApprovalNeeded | undefined
}

export interface PromotionResult {
  /** Identifies the plan: what was read to make it. */
  readonly hash: string
  readonly items: readonly Promoted[]
}

/**
 * Copies flags from one environment to another, dependencies first. Raises `invalid` for what cannot be promoted. A flag
 * that needs approval is left as it is and reported; then the caller must roll the transaction back.
 */
export async function promote(
  gate: Gate,
  actor: Actor,
  organization: Organization,
  promotion: Promotion,
): Promise<PromotionResult> {
  const { tx } = gate
  const { from, to, keys } = promotion
  const target = (await findProject(tx, actor, organization, to.projectId))!
  const sources: Source[] = []
  for (const key of new Set(keys)) {
    sources.push(await findSource(tx, actor, organization, { key, fromProjectId: from }))
  }
  const items: Promoted[] = []
  const read: unknown[] = [from, to.projectId, [...promotion.parts].sort()]
  for (const source of dependenciesFirst(sources)) {
    const before = await tx.flags.findLiveByKey(target.id, source.flag.key)
    const existing = new Set((await tx.cohorts.listDefinitions(target.id)).map(({ name }) => name))
    const newCohorts = source.cohorts.flatMap(({ name }) => (existing.has(name) ? [] : [name]))
    const item = {
      key: source.flag.key,
      before,
      newCohorts,
      dependencies: [...source.dependencies.values()],
    }
    const patchOf = (copied: FlagPatch & { key: string }) => partsOf(copied, source.flag, before, promotion)
    const copied = await copyInto(gate, actor, source, target, patchOf)
    if ('needed' in copied) items.push({ ...item, after: undefined, needed: copied.needed })
    else items.push({ ...item, after: copied.flag, needed: undefined })
    const policies = items.at(-1)!.needed?.policies.map(({ id, version }) => [id, version])
    const cohorts = source.cohorts.map(({ id, version }) => [id, version])
    const { flag, payloadSchema } = source
    read.push([flag.id, flag.version, payloadSchema, before?.id, before?.version, cohorts, newCohorts, policies])
  }
  return { hash: createHash('sha256').update(JSON.stringify(read)).digest('hex'), items }
}

/** A new flag takes everything; it arrives in production switched off. An existing one takes the chosen parts. */
function partsOf(
  copied: FlagPatch & { key: string },
  source: Flag,
  before: Flag | undefined,
  { parts: chosen, to }: Promotion,
): FlagPatch & { key: string } {
  if (!before) return { ...copied, tags: source.tags, active: copied.active && !to.isProduction }
  const { payloads: newPayloads, ...newRest } = copied.filters as FreeObject
  const { payloads: oldPayloads, ...oldRest } = before.filters
  const payloads = chosen.has('payloads') ? newPayloads : oldPayloads
  return {
    key: copied.key,
    filters: {
      ...(chosen.has('filters') ? newRest : oldRest),
      ...(payloads !== undefined && { payloads }),
    },
    ...(chosen.has('tags') && { tags: source.tags }),
    ...(chosen.has('active') && { active: source.active }),
  }
}

/** Flags that others of the promotion depend on come before these. */
function dependenciesFirst(sources: readonly Source[]): readonly Source[] {
  const byId = new Map(sources.map(source => [source.flag.id, source]))
  const ordered = new Set<Source>()
  const visit = (source: Source): void => {
    if (ordered.has(source)) return
    // The engine refuses circular dependencies, so this ends.
    for (const id of usesFlags(source.flag.filters)) {
      const other = byId.get(id)
      if (other && other !== source) visit(other)
    }
    ordered.add(source)
  }
  for (const source of sources) visit(source)
  return [...ordered]
}
