import { type Project, withDependencies } from '../compile/project.ts'
import { decideFlag } from './decide-flag.ts'
import { DEPENDENCY_CYCLE, MISSING_DEPENDENCY } from './outcome.ts'
import { posthogUncertainty } from './posthog-compat.ts'
import { type Dependency, Run } from './run.ts'

/** For projects that do not refer to groups. */
const noGroupTypes: readonly (string | undefined)[] = [undefined]

export function newRun(project: Project): Run {
  const { compiler, flags } = project
  return new Run({
    conditions: compiler.conditions,
    predicates: compiler.pool.predicates,
    caches: compiler.pool,
    predicateCount: project.predicateCount,
    flagCount: flags.length,
    groupTypes: compiler.usesGroups ? compiler.groupTypes : noGroupTypes,
    dependency: (run, reference) => dependencyIn(project, run, reference),
    leftToServer: () => project.leftToServer,
  })
}

/** Dependencies are decided first, so their outcomes exist. */
function dependencyIn({ flags, index: places }: Project, run: Run, reference: string): Dependency | undefined {
  const index = places.ofReference(reference)
  if (index === undefined) return undefined
  return {
    outcome: flags[index]!.outcomes[run.outcomes[index]!]!,
    uncertainty: run.uncertainties.get(index)?.uncertainty ?? 0,
  }
}

/** Decides all flags, into `run.outcomes`. */
export function evaluateAll(project: Project, run: Run): void {
  const { hashes, plans } = project
  const { order } = project.flagOrder
  for (let index = 0; index < hashes.length; index++) {
    const { entity, salt, batch } = hashes[index]!
    if (run.has(entity)) run.buckets.hashBatch(batch, run.identifierOf(entity), salt)
  }
  if (order !== undefined) {
    for (const index of order) evaluateOne(project, run, index)
    return
  }
  for (let index = 0; index < plans.length; index++) {
    run.position = index
    run.outcomes[index] = decideFlag(run, plans[index]!)
  }
}

/** Decides some flags and their dependencies, into `run.outcomes`. Other entries are stale. */
export function evaluateSome(project: Project, run: Run, requested: readonly number[]): void {
  for (const index of withDependencies(project, requested)) evaluateOne(project, run, index)
}

function evaluateOne(project: Project, run: Run, index: number): void {
  const plan = project.plans[index]!
  run.position = index
  const breakage = plan === null ? undefined : project.flagOrder.broken.get(index)
  if (breakage !== undefined) {
    run.outcomes[index] = breakage === 'cycle' ? DEPENDENCY_CYCLE : MISSING_DEPENDENCY
    return
  }
  run.outcomes[index] = decideFlag(run, plan)
  if (project.dependedOn.has(index)) recordUncertainty(project, run, index)
}

/** An SDK evaluates dependencies in order and stops at the first one that it declines. */
function recordUncertainty({ plans, flagOrder }: Project, run: Run, index: number): void {
  const uncertainty = posthogUncertainty(run, plans[index]!)
  let first = uncertainty === 0 ? undefined : { uncertainty, place: flagOrder.places![index]! }
  for (const other of flagOrder.dependencies.get(index) ?? []) {
    const earlier = run.uncertainties.get(other)
    if (earlier !== undefined && (first === undefined || earlier.place < first.place)) first = earlier
  }
  if (first !== undefined) run.uncertainties.set(index, first)
}
