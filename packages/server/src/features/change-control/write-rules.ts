import type { Freeze } from '../../domain/freeze.ts'
import type { ApprovalPolicy } from '../../domain/policy.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import type { FlagSave } from '../flags/flag-guard.ts'
import { type FlagDependents, readDependents } from './gaining-dependents.ts'

/** What holds for all writes in a project: read once when many flags are written. */
export interface WriteRules {
  readonly freezes: readonly Freeze[]
  readonly policies: readonly ApprovalPolicy[]
  /** Not read when nothing depends on them. */
  readonly dependents: FlagDependents
}

export async function readWriteRules(tx: Stores, project: Project): Promise<WriteRules> {
  const freezes = await tx.freezes.list(project.organizationId)
  const policies = await tx.policies.listEnabled(project.id)
  const isRestricted = freezes.length + policies.length > 0
  return { freezes, policies, dependents: isRestricted ? await readDependents(tx, project) : noDependents }
}

const noDependents: FlagDependents = { flags: [], flagsOfCohort: () => [] }

/** The rules as they are when all of these flags are saved, since some may depend on others. */
export const withSaves = ({ dependents, ...rules }: WriteRules, saves: readonly FlagSave[]): WriteRules => {
  const saved = new Map(saves.flatMap(({ stored, flag }) => (stored ? [[stored.id, { ...flag, id: stored.id }]] : [])))
  const others = dependents.flags.filter(({ id }) => !saved.has(id))
  return { ...rules, dependents: { ...dependents, flags: [...others, ...saved.values()] } }
}
