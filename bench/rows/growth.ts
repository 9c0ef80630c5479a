import { type Installation, ownerHeaders } from '../installation.ts'
import type { Round } from '../load.ts'
import { type Figure, interleave, median, ratios, spreadOf } from '../measure.ts'
import { addFlags, addHistory, addPersons, addProjects, populate } from '../populate.ts'
import type { RequestPlan } from '../requests.ts'
import type { Row, RowContext } from '../row.ts'

/** Cost of a request with a large database relative to a small one; 1 means independent of the size. */
export const growth: Row = async context => [
  ...(await byRequestedFlags(context)),
  ...(await byStored(context)),
  ...(await listByFlags(context)),
]

/** 1 within measurement noise. */
const constant = 1.25

const times = (count: number): string => count.toLocaleString('en')

/** Ten times as many flags may cost at most ten times as much. */
async function byRequestedFlags(context: RowContext): Promise<Figure[]> {
  const { manyFlags } = context.size
  const few = manyFlags / 10
  const halyard = await context.installations.start(manyFlags)
  const { token } = halyard
  const keys = Array.from({ length: few }, (_, index) => `feature-${index}-rollout`)
  const users = context.size.users
  const rounds = await contest(context, halyard, {
    few: { kind: 'evaluate', token, users, keys },
    many: { kind: 'evaluate', token, users },
  })
  await halyard.stop()
  return [
    growthFigure(`evaluation, ${times(few)} → ${times(manyFlags)} flags requested`, rounds.few!, rounds.many!, 10),
  ]
}

/** Evaluation and one page of activity with more projects, persons and history. */
async function byStored(context: RowContext): Promise<Figure[]> {
  const { size, installations, log } = context
  const [few, many] = [size.stored / 100, size.stored]
  const flagCount = Math.min(100, size.manyFlags)
  const start = async (count: number) => {
    const { databaseUrl, projectId } = await installations.copy(flagCount)
    populate(databaseUrl, handle => {
      addPersons(handle, projectId, count)
      addHistory(handle, projectId, count)
      addProjects(handle, projectId, count / 10)
    })
    return installations.open(databaseUrl)
  }
  log(`  ${times(few)} and ${times(many)} persons and changes, a tenth as many projects …`)
  const [small, large] = [await start(few), await start(many)]
  const { token, projectId } = small
  const evaluate: RequestPlan = { kind: 'evaluate', token, users: size.users }
  const path = `/api/projects/${projectId}/feature_flags/activity/`
  const activity: RequestPlan = { kind: 'same', method: 'GET', path, headers: ownerHeaders }
  const figures: Figure[] = []
  for (const [name, plan] of Object.entries({ evaluation: evaluate, 'one page of activity': activity })) {
    const rounds = await contestOf(context, { small: [small, plan], large: [large, plan] })
    const measure = `${name}, ${times(few)} → ${times(many)} persons and changes, ${times(few / 10)} → ${times(many / 10)} projects`
    figures.push(growthFigure(measure, rounds.small!, rounds.large!, constant))
  }
  await Promise.all([small.stop(), large.stop()])
  return figures
}

async function listByFlags(context: RowContext): Promise<Figure[]> {
  const { size, installations } = context
  const [few, many] = [size.stored / 1000, size.stored / 10]
  const start = async (count: number) => {
    const { databaseUrl, projectId } = await installations.copy(10)
    populate(databaseUrl, handle => addFlags(handle, projectId, count))
    return installations.open(databaseUrl)
  }
  const [small, large] = [await start(few), await start(many)]
  const path = `/api/projects/${small.projectId}/feature_flags/?limit=20`
  const plan: RequestPlan = { kind: 'same', method: 'GET', path, headers: ownerHeaders }
  const rounds = await contestOf(context, { small: [small, plan], large: [large, plan] })
  await Promise.all([small.stop(), large.stop()])
  return [
    growthFigure(`one page of 20 flags, ${times(few)} → ${times(many)} flags`, rounds.small!, rounds.large!, constant),
  ]
}

type Plans = Readonly<Record<string, RequestPlan>>

const contest = (context: RowContext, halyard: Installation, plans: Plans) =>
  contestOf(context, Object.fromEntries(Object.entries(plans).map(([name, plan]) => [name, [halyard, plan] as const])))

async function contestOf(
  { size, load }: RowContext,
  plans: Readonly<Record<string, readonly [Installation, RequestPlan]>>,
): Promise<Record<string, Round[]>> {
  const contestants: Record<string, () => Promise<Round>> = {}
  for (const [name, [{ port, pid }, plan]] of Object.entries(plans)) {
    const run = await load.aim({ id: `growth ${name}`, port, pid, plan, status: 200 }, size.connections)
    contestants[name] = () => run(size.roundMilliseconds)
  }
  return interleave(contestants, size.rounds)
}

/** Compares server CPU time, which is stable on a busy machine. */
function growthFigure(measure: string, small: readonly Round[], large: readonly Round[], atMost: number): Figure {
  const costs = ratios(
    large.map(round => round.cpuEach),
    small.map(round => round.cpuEach),
  )
  return {
    measure: `growth: ${measure}`,
    value: median(costs),
    unit: '×',
    spread: spreadOf(costs),
    atMost,
    // Where the cost may grow, a cheaper small request would look like a regression.
    ...(atMost === constant && { guard: 'more is worse' }),
  }
}
