import { decideFlag } from './decide-flag.ts'
import { doubtAbout } from './library-view.ts'
import { DEPENDENCY_CYCLE, MISSING_DEPENDENCY } from './outcome.ts'
import { type Project, withDependencies } from './project.ts'
import { type Dependency, Run } from './run.ts'

export function newRun(project: Project): Run {
  const { compiler, flags } = project
  return new Run({
    predicates: compiler.pool.predicates,
    predicateCount: project.predicateCount,
    flagCount: flags.length,
    groupTypes: compiler.groupTypes,
    dependency: (run, reference) => dependencyIn(project, run, reference),
  })
}

/** Flags are decided after those that they depend on, so the outcome is there. */
function dependencyIn({ flags, find }: Project, run: Run, reference: string): Dependency | undefined {
  const index = find(reference)
  if (index === undefined) return undefined
  return { outcome: flags[index]!.outcomes[run.outcomes[index]!]!, doubt: run.doubts.get(index)?.doubt ?? 0 }
}

/** Decides all flags, into `run.outcomes`. */
export function evaluateAll(project: Project, run: Run): void {
  const { order } = project.ranking
  for (let place = 0; place < project.flags.length; place++) {
    evaluateOne(project, run, order === undefined ? place : order[place]!)
  }
}

/** Decides some flags and what they depend on, into `run.outcomes`. The rest of it is left over from earlier runs. */
export function evaluateSome(project: Project, run: Run, asked: ReadonlySet<number>): void {
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
