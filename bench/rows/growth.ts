import { type Installation, ownerHeaders } from '../installation.ts'
import type { Turn } from '../load.ts'
import { type Figure, interleave, median, ratios, spreadOf } from '../measure.ts'
import { addFlags, addHistory, addPersons, addProjects, populate } from '../populate.ts'
import type { RequestPlan } from '../requests.ts'
import type { Kit, Row } from '../row.ts'

/** What a request costs with much more in the database, over what it costs with little: 1 means that it does not matter. */
export const growth: Row = async kit => [
  ...(await byFlagsAsked(kit)),
  ...(await byStored(kit)),
  ...(await listByFlags(kit)),
]

/** As near to 1 as can be told apart from noise. */
const constant = 1.25

const times = (count: number): string => count.toLocaleString('en')

/** Ten times as many flags asked for may cost ten times as much, not more. */
async function byFlagsAsked(kit: Kit): Promise<Figure[]> {
  const { manyFlags } = kit.size
  const few = manyFlags / 10
  const halyard = await kit.installations.start(manyFlags)
  const { token } = halyard
  const keys = Array.from({ length: few }, (_, index) => `feature-${index}-rollout`)
  const users = kit.size.users
  const turns = await contest(kit, halyard, {
    few: { kind: 'evaluate', token, users, keys },
    many: { kind: 'evaluate', token, users },
  })
  await halyard.stop()
  return [grown(`evaluation, ${times(few)} → ${times(manyFlags)} flags asked for`, turns.few!, turns.many!, 10)]
}

/** Evaluation beside more projects, persons and history, and a page of activity. */
async function byStored(kit: Kit): Promise<Figure[]> {
  const { size, installations, say } = kit
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
  say(`  ${times(few)} and ${times(many)} persons and changes, a tenth as many projects …`)
  const [small, large] = [await start(few), await start(many)]
  const { token, projectId } = small
  const evaluate: RequestPlan = { kind: 'evaluate', token, users: size.users }
  const path = `/api/projects/${projectId}/feature_flags/activity/`
  const activity: RequestPlan = { kind: 'same', method: 'GET', path, headers: ownerHeaders }
  const figures: Figure[] = []
  for (const [name, plan] of Object.entries({ evaluation: evaluate, 'a page of activity': activity })) {
    const turns = await contestOf(kit, { small: [small, plan], large: [large, plan] })
    const measure = `${name}, ${times(few)} → ${times(many)} persons and changes, ${times(few / 10)} → ${times(many / 10)} projects`
    figures.push(grown(measure, turns.small!, turns.large!, constant))
  }
  await Promise.all([small.stop(), large.stop()])
  return figures
}

async function listByFlags(kit: Kit): Promise<Figure[]> {
  const { size, installations } = kit
  const [few, many] = [size.stored / 1000, size.stored / 10]
  const start = async (count: number) => {
    const { databaseUrl, projectId } = await installations.copy(10)
    populate(databaseUrl, handle => addFlags(handle, projectId, count))
    return installations.open(databaseUrl)
  }
  const [small, large] = [await start(few), await start(many)]
  const path = `/api/projects/${small.projectId}/feature_flags/?limit=20`
  const plan: RequestPlan = { kind: 'same', method: 'GET', path, headers: ownerHeaders }
  const turns = await contestOf(kit, { small: [small, plan], large: [large, plan] })
  await Promise.all([small.stop(), large.stop()])
  return [grown(`a page of 20 flags, ${times(few)} → ${times(many)} flags`, turns.small!, turns.large!, constant)]
}

type Plans = Readonly<Record<string, RequestPlan>>

const contest = (kit: Kit, halyard: Installation, plans: Plans) =>
  contestOf(kit, Object.fromEntries(Object.entries(plans).map(([name, plan]) => [name, [halyard, plan] as const])))

async function contestOf(
  { size, load }: Kit,
  plans: Readonly<Record<string, readonly [Installation, RequestPlan]>>,
): Promise<Record<string, Turn[]>> {
  const contestants: Record<string, () => Promise<Turn>> = {}
  for (const [name, [{ port, pid }, plan]] of Object.entries(plans)) {
    const ask = await load.aim({ id: `growth ${name}`, port, pid, plan, status: 200 }, size.connections)
    contestants[name] = () => ask(size.turnMilliseconds)
  }
  return interleave(contestants, size.turns)
}

/** By processor time of the server, which a busy machine does not blur. */
function grown(measure: string, small: readonly Turn[], large: readonly Turn[], atMost: number): Figure {
  const costs = ratios(
    large.map(turn => turn.cpuEach),
    small.map(turn => turn.cpuEach),
  )
  return {
    measure: `growth: ${measure}`,
    value: median(costs),
    unit: '×',
    spread: spreadOf(costs),
    atMost,
    // Where more may cost more, a request for little that has become cheaper would look like a loss.
    ...(atMost === constant && { guard: 'more is worse' }),
  }
}
