import type { Definitions, Outcome } from '@halyard/engine'
import type { Flag, FlagContent, FreeObject } from '../../domain/flag.ts'
import { flagDefinition } from '../../evaluation/projects/flag-definition.ts'
import { needsIdentity } from '../../evaluation/scan/needs-identity.ts'
import type { FlagQuery, Sampled, Tally, TallyRequest, Target } from '../../evaluation/scan/scan-request.ts'
import { gatherReferences } from '../../evaluation/subjects/gather-references.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { checkFlagContent } from '../flags/check-flag.ts'

/** A proposed version of a flag. */
export interface Candidate {
  readonly content: FlagContent
  /** Rollouts are hashed by the flag key, so without one they cannot be evaluated. */
  readonly hasKey: boolean
  /** The flag it would replace. */
  readonly baseline: Flag | undefined
}

/** The scan to run. */
export interface BlastRadiusPlan {
  /** Undefined when there is nothing to scan. */
  readonly request: TallyRequest | undefined
  /** Positions of the queries: matching conditions, the candidate, the baseline. */
  readonly matches: number
  readonly candidate: number | undefined
  readonly baseline: number | undefined
}

export interface BlastRadius {
  readonly total: number
  /** Number of subjects that match a condition, ignoring rollouts. */
  readonly affected: number
  /** Undefined without a flag key, which rollouts are hashed by. */
  readonly on: { readonly count: number; readonly variants: Counts; readonly conditions: Counts } | undefined
  readonly comparison:
    | {
        readonly currentlyOn: number
        readonly gains: number
        readonly losses: number
        readonly changes: number
        readonly gained: readonly Sampled[]
        readonly lost: readonly Sampled[]
      }
    | undefined
}

type Counts = ReadonlyMap<string, number>

const samplesMax = 20

/** Throws `invalid` for filters that cannot be evaluated, and for a comparison of persons with groups. */
export async function planBlastRadius(
  tx: Stores,
  project: Project,
  { content, hasKey, baseline }: Candidate,
  now: number,
): Promise<BlastRadiusPlan> {
  const id = baseline?.id ?? 0
  await checkFlagContent(tx, project, { ...content, id, version: 1 })
  const target = targetOf(project, content.filters)
  if (baseline && JSON.stringify(targetOf(project, baseline.filters)) !== JSON.stringify(target)) {
    throw invalid(
      'compare_to',
      'invalid_input',
      'Both flags must use the same aggregation: persons, or the same group type.',
    )
  }
  const queryFor = async (flag: Pick<Flag, 'id' | 'version'> & FlagContent): Promise<FlagQuery> => ({
    key: flag.key,
    definitions: await definitionsFor(tx, project, flag),
  })
  const queries = [
    await queryFor({
      ...content,
      id,
      version: 1,
      active: true,
      deleted: false,
      filters: withoutRollouts(content.filters),
    }),
  ]
  const add = (query: FlagQuery): number => queries.push(query) - 1
  const isPersonal =
    queries[0]!.definitions.flags.some(flag => needsIdentity(flag.filters)) || needsIdentity(content.filters)
  const isOn = content.active && !content.deleted
  const canEvaluateRollouts = hasKey || !isPersonal
  const candidate = !canEvaluateRollouts
    ? undefined
    : isOn && !needsIdentity(content.filters)
      ? 0
      : add(await queryFor({ ...content, id, version: 1 }))
  const before = baseline && add(await queryFor(baseline))
  const plan = { matches: 0, candidate, baseline: before }
  if (!target) return { ...plan, request: undefined }
  const samples =
    before === undefined || candidate === undefined ? undefined : { before, after: candidate, max: samplesMax }
  const request: TallyRequest = {
    kind: 'tally',
    projectId: project.id,
    target,
    queries,
    now,
    ...(samples && { samples }),
  }
  return { ...plan, request }
}

/** The definitions of a flag and everything it refers to. */
export async function definitionsFor(
  tx: Stores,
  project: Project,
  flag: Pick<Flag, 'id' | 'version'> & FlagContent,
): Promise<Definitions> {
  const { flags, cohorts } = await gatherReferences(tx, project.id, [flag.filters])
  return {
    flags: [flagDefinition(flag), ...flags.filter(other => other.id !== flag.id)],
    cohorts,
    groupTypes: project.groupTypes,
    propertyMatchingVersion: project.propertyMatchingVersion,
  }
}

/** Undefined when the flag aggregates by a group type that no event has used yet. */
function targetOf(project: Project, filters: FreeObject): Target | undefined {
  const { aggregation_group_type_index: index } = filters
  if (index === undefined || index === null) return { kind: 'persons' }
  const type = project.groupTypes[String(index)]
  return type === undefined ? undefined : { kind: 'groups', typeIndex: Number(index), type }
}

/** The same conditions, each rolled out to 100 %. */
function withoutRollouts(filters: FreeObject): FreeObject {
  const { multivariate: _variants, holdout: _holdout, early_exit: _exit, payloads: _payloads, ...rest } = filters
  const open = (conditions: unknown) =>
    Array.isArray(conditions)
      ? conditions.map(condition => ({
          ...(condition as object),
          rollout_percentage: null,
          variant: null,
          split: null,
        }))
      : conditions
  return {
    ...rest,
    ...(rest.groups !== undefined && { groups: open(rest.groups) }),
    ...(rest.super_groups !== undefined && { super_groups: open(rest.super_groups) }),
  }
}

export function readTally(tally: Tally, { matches, candidate, baseline }: BlastRadiusPlan): BlastRadius {
  const count = (wanted: (outcomes: readonly Outcome[]) => boolean): number =>
    tally.lines.reduce((sum, line) => (wanted(line.outcomes) ? sum + line.count : sum), 0)
  const countBy = (nameOf: (outcome: Outcome) => string | number | null): Counts => {
    const counts = new Map<string, number>()
    for (const { outcomes, count: n } of tally.lines) {
      const outcome = outcomes[candidate!]!
      const name = outcome.enabled ? nameOf(outcome) : null
      if (name !== null) counts.set(String(name), (counts.get(String(name)) ?? 0) + n)
    }
    return counts
  }
  const isOn = (position: number) => (outcomes: readonly Outcome[]) => outcomes[position]!.enabled
  return {
    total: tally.total,
    affected: count(isOn(matches)),
    on:
      candidate === undefined
        ? undefined
        : {
            count: count(isOn(candidate)),
            variants: countBy(outcome => outcome.variant),
            conditions: countBy(outcome => outcome.reason.conditionIndex),
          },
    comparison:
      candidate === undefined || baseline === undefined
        ? undefined
        : {
            currentlyOn: count(isOn(baseline)),
            gains: count(o => !o[baseline]!.enabled && o[candidate]!.enabled),
            losses: count(o => o[baseline]!.enabled && !o[candidate]!.enabled),
            changes: count(
              o => o[baseline]!.enabled && o[candidate]!.enabled && o[baseline]!.value !== o[candidate]!.value,
            ),
            gained: tally.gained,
            lost: tally.lost,
          },
  }
}

export const emptyTally: Tally = { total: 0, lines: [], gained: [], lost: [] }
