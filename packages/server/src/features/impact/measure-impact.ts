import { contentOf, type Flag, type FlagContent } from '../../domain/flag.ts'
import type { Impact } from '../../domain/policy.ts'
import type { Scanner } from '../../evaluation/scan/scanner.ts'
import { dateOf, type Instant } from '../../instant.ts'
import { Problem } from '../../problem.ts'
import type { Database } from '../../stores.ts'
import { emptyTally, planBlastRadius, readTally } from './blast-radius.ts'

/** A count that takes longer counts as not made. */
const scanMillisecondsMax = 30_000

/** How many people a change of a flag concerns now; undefined when that cannot be counted. */
export async function measureImpact(
  database: Database,
  scanner: Scanner,
  {
    projectId,
    stored,
    flag,
  }: { readonly projectId: number; readonly stored: Flag | undefined; readonly flag: FlagContent },
  now: Instant,
): Promise<Impact | undefined> {
  try {
    const plan = await database.read(async tx => {
      const project = await tx.projects.find(projectId)
      const candidate = { content: contentOf(flag), hasKey: true, baseline: stored }
      return project && planBlastRadius(tx, project, candidate, dateOf(now).getTime())
    })
    if (!plan) return undefined
    const signal = AbortSignal.timeout(scanMillisecondsMax)
    const { on, comparison } = readTally(plan.request ? await scanner.tally(plan.request, signal) : emptyTally, plan)
    if (!comparison) return { affected: on?.count ?? 0, gains: on?.count ?? 0, losses: 0 }
    const { gains, losses, changes } = comparison
    return { affected: gains + losses + changes, gains, losses }
  } catch (error) {
    if (error instanceof Problem && error.kind !== 'unavailable') return undefined
    throw error
  }
}
