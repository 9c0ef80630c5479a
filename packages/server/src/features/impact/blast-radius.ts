import type { Definitions, Outcome } from '@halyard/engine'
import { flagDefinition } from '../../evaluation/projects/flag-definition.ts'
import { gatherReferences } from '../../evaluation/subjects/gather-references.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { checkFlagContent } from '../flags/check-flag.ts'
import type { Flag, FlagContent, FreeObject } from '../flags/flag.ts'
import { needsIdentity } from './needs-identity.ts'
import type { Question, Sampled, Tally, TallyRequest, Target } from './scan/scan-request.ts'

/** A flag as it might become. */
export interface Candidate {
  readonly content: FlagContent
  /** Whether there is a key to hash by. Without one, rollouts cannot be worked out. */
  readonly hasKey: boolean
  /** What it would replace. */
  readonly baseline: Flag | undefined
}

/** What to ask about everybody; undefined when there is nobody to ask about. */
export interface BlastRadiusPlan {
  readonly request: TallyRequest | undefined
  /** Where the answers stand: whom conditions match, what the candidate gives, what there is now. */
  readonly matches: number
  readonly candidate: number | undefined
  readonly baseline: number | undefined
}

export interface BlastRadius {
  readonly total: number
  /** Who matches a condition, rollouts left aside. */
  readonly affected: number
  /** Undefined when it cannot be said: rollouts go by the flag's key. */
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

/** Raises `invalid` for filters that cannot be evaluated, and for a comparison of persons with groups. */
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
      'One of the flags goes by persons and the other by groups, or by other groups.',
    )
  }
  const ask = async (flag: Pick<Flag, 'id' | 'version'> & FlagContent): Promise<Question> => ({
    key: flag.key,
    definitions: await definitionsFor(tx, project, flag),
  })
  const questions = [
    await ask({ ...content, id, version: 1, active: true, deleted: false, filters: withoutRollouts(content.filters) }),
  ]
  const add = (question: Question): number => questions.push(question) - 1
  const isPersonal =
    questions[0]!.definitions.flags.some(flag => needsIdentity(flag.filters)) || needsIdentity(content.filters)
  const isOn = content.active && !content.deleted
  const isSayable = hasKey || !isPersonal
  const candidate = !isSayable
    ? undefined
    : isOn && !needsIdentity(content.filters)
      ? 0
      : add(await ask({ ...content, id, version: 1 }))
  const before = baseline && add(await ask(baseline))
  const plan = { matches: 0, candidate, baseline: before }
  if (!target) return { ...plan, request: undefined }
  const samples =
    before === undefined || candidate === undefined ? undefined : { before, after: candidate, max: samplesMax }
  const request: TallyRequest = {
    kind: 'tally',
    projectId: project.id,
    target,
    questions,
    now,
    ...(samples && { samples }),
  }
  return { ...plan, request }
}

/** A flag with all that it uses, as the engine takes it. */
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

/** Undefined when the flag goes by groups of a type that nobody has seen yet. */
function targetOf(project: Project, filters: FreeObject): Target | undefined {
  const { aggregation_group_type_index: index } = filters
  if (index === undefined || index === null) return { kind: 'persons' }
  const type = project.groupTypes[String(index)]
  return type === undefined ? undefined : { kind: 'groups', typeIndex: Number(index), type }
}

/** The same conditions with nobody left out by chance. */
function withoutRollouts(filters: FreeObject): FreeObject {
  const { multivariate: _variants, holdout: _holdout, early_exit: _exit, payloads: _payloads, ...rest } = filters
  const open = (conditions: unknown) =>
    Array.isArray(conditions)
      ? conditions.map(condition => ({ ...(condition as object), rollout_percentage: null, variant: null }))
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

export const nobodyThere: Tally = { total: 0, lines: [], gained: [], lost: [] }
