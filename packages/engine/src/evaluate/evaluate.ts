import { type Project, withDependencies } from '../compile/project.ts'
import { decideFlag } from './decide-flag.ts'
import { decideTogether } from './gathering.ts'
import { DEPENDENCY_CYCLE, MISSING_DEPENDENCY } from './outcome.ts'
import { doubtAbout } from './posthog-compat.ts'
import { type Dependency, Run } from './run.ts'

/** Where nothing is about groups, those of a subject need not be looked at. */
const nobodysGroups: readonly (string | undefined)[] = [undefined]

export function newRun(project: Project): Run {
  const { compiler, flags } = project
  return new Run({
    predicates: compiler.pool.predicates,
    memos: compiler.pool,
    predicateCount: project.predicateCount,
    flagCount: flags.length,
    groupTypes: compiler.usesGroups ? compiler.groupTypes : nobodysGroups,
    dependency: (run, reference) => dependencyIn(project, run, reference),
  })
}

/** Flags are decided after those that they depend on, so the outcome is there. */
function dependencyIn({ flags, index: places }: Project, run: Run, reference: string): Dependency | undefined {
  const index = places.ofReference(reference)
  if (index === undefined) return undefined
  return { outcome: flags[index]!.outcomes[run.outcomes[index]!]!, doubt: run.doubts.get(index)?.doubt ?? 0 }
}

/** With fewer flags than this, gathering costs more than it saves. */
const gatherFlagsMin = 4

/** Decides all flags, into `run.outcomes`. */
export function evaluateAll(project: Project, run: Run): void {
  const { order, dependencies } = project.ranking
  const independent = project.flags.length - dependencies.size
  if (independent < gatherFlagsMin || !evaluateTogether(project, run)) {
    for (let place = 0; place < independent; place++) evaluateOne(project, run, order?.[place] ?? place)
  }
  for (let place = independent; place < project.flags.length; place++) evaluateOne(project, run, order![place]!)
}

/** Decides the flags that depend on no other, most of them together. Answers false when that cannot be done now. */
function evaluateTogether(project: Project, run: Run): boolean {
  const { flat } = project
  const undecided = decideTogether(run, flat)
  if (undecided === undefined) return false
  for (const position of undecided) evaluateOne(project, run, position)
  for (const position of flat.apart) evaluateOne(project, run, position)
  return true
}

/** Decides some flags and what they depend on, into `run.outcomes`. The rest of it is left over from earlier runs. */
export function evaluateSome(project: Project, run: Run, asked: readonly number[]): void {
  for (const index of withDependencies(project, asked)) evaluateOne(project, run, index)
}

function evaluateOne(project: Project, run: Run, index: number): void {
  const flag = project.flags[index]!
  const { broken } = project.ranking
  const breakage = broken.size === 0 || flag.plan === null ? undefined : broken.get(index)
  if (breakage !== undefined) {
    run.outcomes[index] = breakage === 'cycle' ? DEPENDENCY_CYCLE : MISSING_DEPENDENCY
    return
  }
  run.position = index
  run.outcomes[index] = decideFlag(run, flag)
  if (project.needed.has(index)) noteDoubt(project, run, index)
}

/** A client library evaluates all that a flag depends on, in order, and stops at the first one that it declines. */
function noteDoubt({ flags, ranking }: Project, run: Run, index: number): void {
  const doubt = doubtAbout(run, flags[index]!)
  let first = doubt === 0 ? undefined : { doubt, place: ranking.places![index]! }
  for (const other of ranking.dependencies.get(index) ?? []) {
    const earlier = run.doubts.get(other)
    if (earlier !== undefined && (first === undefined || earlier.place < first.place)) first = earlier
  }
  if (first !== undefined) run.doubts.set(index, first)
}
