import { usesFlags } from '@halyard/engine'
import type { Author } from '../../../domain/activity.ts'
import type { Flag } from '../../../domain/flag.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { type PlannedFlag, planFlagUpdate } from '../plan-flag.ts'

/** A flag that was evaluated more recently is still in use. */
const unusedMilliseconds = 7 * 24 * 3_600_000
const namedMax = 5

export interface Archiving {
  readonly stored: Flag
  /** Archives a flag that is in use; requires a reason. */
  readonly isForced: boolean
  readonly reason: string
}

/** Plans to archive the flag and switch it off. Raises `invalid` while other flags, evaluations or code use it, unless forced. */
export async function planFlagArchiving(
  tx: Stores,
  author: Author,
  project: Project,
  { stored, isForced, reason }: Archiving,
  now: Instant,
): Promise<PlannedFlag> {
  if (stored.archived) return planFlagUpdate(tx, author, project, { stored, patch: {} }, now)
  if (isForced && reason === '') throw invalid('reason', 'required', 'reason is required with force.')
  const use = await useOf(tx, project, stored, now)
  if (use && !isForced) {
    throw invalid(null, 'in_use', `${use} Send force and a reason to archive it anyway.`)
  }
  const trigger = { archived: true, ...(use && { forced: use }), ...(reason !== '' && { reason }) }
  return planFlagUpdate(tx, author, project, { stored, patch: { archived: true, active: false }, trigger }, now)
}

async function useOf(tx: Stores, project: Project, flag: Flag, now: Instant): Promise<string | undefined> {
  const dependents = (await tx.flags.listDependents(project.id)).filter(
    other => other.id !== flag.id && usesFlags(other.filters).includes(flag.id),
  )
  if (dependents.length > 0) {
    const keys = dependents.slice(0, namedMax).map(({ key }) => key)
    return `Other flags depend on this one: ${keys.join(', ')}.`
  }
  const lastUsed = (await tx.usage.lastUsed(project.id, 'called')).get(flag.key)
  const isUsed = lastUsed !== undefined && lastUsed > plusMilliseconds(now, -unusedMilliseconds)
  if (isUsed) return `The flag was evaluated at ${lastUsed}.`
  const { count, repositories } = await tx.codeReferences.useOf(project.id, flag.key)
  if (count === 0) return undefined
  const names = repositories.slice(0, namedMax).join(', ')
  return `Code refers to it: ${count} ${count === 1 ? 'line' : 'lines'} in ${names}.`
}
