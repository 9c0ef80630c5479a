import { heapBytesPerFlag } from '../engines/halyard.ts'
import { type EngineName, type RunningEngine, startEngine } from '../engines.ts'
import { type Figure, interleave, median, ratios, spreadOf } from '../measure.ts'
import { mixedDefinitions } from '../mix.ts'
import type { Kit, Row } from '../row.ts'

/** The engine alone: against the hashes that it cannot do without, against the engines of others, and how it is loaded. */
export const engine: Row = async kit => {
  const figures: Figure[] = []
  for (const flagCount of kit.size.flagCounts) figures.push(...(await evaluationFigures(kit, flagCount)))
  return [...figures, ...(await loadFigures(kit)), ...heapFigures()]
}

/** What the names in `bars` mean: the engine of the peer, and the line of Node that it and Halyard's run on. */
const rivals: readonly { readonly name: EngineName; readonly on: 'this' | '22'; readonly atLeast?: number }[] = [
  { name: 'posthog-node', on: 'this', atLeast: 60 },
  { name: 'flagd-core', on: 'this', atLeast: 4 },
  { name: 'unleash-client', on: 'this' },
  { name: 'posthog-node', on: '22', atLeast: 60 },
  { name: 'flagd-core', on: '22', atLeast: 4 },
  { name: 'unleash-client', on: '22', atLeast: 4 },
]

const major = process.version.split('.')[0]!.slice(1)
const lineOf = (on: 'this' | '22') => `Node ${on === 'this' ? major : on}`

/** All flags with value, payload and reason, and one flag of them; with the peers in the same turns at 100 flags. */
async function evaluationFigures({ size, peers, say }: Kit, flagCount: number): Promise<Figure[]> {
  const isContest = flagCount === 100 && peers.areWanted
  const nodes = { this: process.execPath, '22': isContest ? peers.node22() : undefined }
  const running = new Map<string, RunningEngine>()
  const start = async (name: EngineName, on: 'this' | '22') => {
    const engine = nodes[on] && (await startEngine(peers, name, flagCount, nodes[on]))
    if (engine) running.set(`${name} ${on}`, engine)
    else if (nodes[on] || isContest) say(`  ${name} on ${lineOf(on)}: not installed`)
  }
  await start('halyard', 'this')
  if (nodes['22']) await start('halyard', '22')
  if (isContest) for (const { name, on } of rivals) await start(name, on)

  const contestants: Record<string, () => Promise<number>> = {}
  for (const [id, engine] of running) {
    const works = id.startsWith('halyard') ? ['floor', 'all', 'one'] : id.startsWith('flagd') ? ['all', 'one'] : ['all']
    for (const work of works) contestants[`${id} ${work}`] = () => engine.run(work)
  }
  const times = await interleave(contestants, size.engineTurns, Math.min(size.engineTurns, 5))
  for (const engine of running.values()) await engine.stop()
  for (const [id, values] of Object.entries(times)) {
    say(`  ${flagCount} flags, ${id.replace(' this', '')}: ${(median(values) / 1000).toFixed(2)} µs`)
  }
  return [
    ...ownFigures(times, flagCount),
    ...(isContest ? rivals.flatMap(rival => rivalFigures(times, rival, flagCount)) : []),
  ]
}

type Times = Readonly<Record<string, readonly number[]>>

function ownFigures(times: Times, flagCount: number): Figure[] {
  const isHeld = flagCount === 100
  const one = times['halyard this one']!.map(value => value / 1000)
  const figures: Figure[] = []
  for (const on of ['this', '22'] as const) {
    const [all, floor] = [times[`halyard ${on} all`], times[`halyard ${on} floor`]]
    if (!all || !floor) continue
    const share = ratios(all, floor)
    figures.push({
      measure: `engine, all of ${flagCount} flags ÷ JS SHA-1 floor${on === 'this' ? '' : `, ${lineOf(on)}`}`,
      value: median(share),
      unit: '×',
      spread: spreadOf(share),
      ...(isHeld && { atMost: 0.75 }),
      ...(isHeld && on === 'this' && { guard: 'more is worse' }),
    })
  }
  return [
    ...figures,
    {
      measure: `engine, one flag of ${flagCount}`,
      value: median(one),
      unit: 'µs',
      spread: spreadOf(one),
      ...(isHeld && { atMost: 1.2 }),
    },
  ]
}

function rivalFigures(times: Times, { name, on, atLeast }: (typeof rivals)[number], flagCount: number): Figure[] {
  const figures: Figure[] = []
  for (const work of ['all', 'one'] as const) {
    const [theirs, own] = [times[`${name} ${on} ${work}`], times[`halyard ${on} ${work}`]]
    if (!theirs || !own) continue
    const faster = ratios(theirs, own)
    figures.push({
      measure: `engine, ${work} of ${flagCount} flags, faster than ${name}, ${lineOf(on)}`,
      value: median(faster),
      unit: '×',
      spread: spreadOf(faster),
      ...(work === 'one' ? { atLeast: 1 } : atLeast !== undefined && { atLeast }),
    })
  }
  return figures
}

async function loadFigures({ size, peers }: Kit): Promise<Figure[]> {
  const halyard = (await startEngine(peers, 'halyard', 1000))!
  const times = await interleave(
    { load: () => halyard.run('load'), update: () => halyard.run('update'), floor: () => halyard.run('floor') },
    size.engineTurns,
    Math.min(size.engineTurns, 5),
  )
  await halyard.stop()
  const load = times.load!.map(value => value / 1e6)
  const update = times.update!.map(value => value / 1e6)
  const share = ratios(times.load!, times.floor!)
  return [
    { measure: 'load 1,000 flags', value: median(load), unit: 'ms', spread: spreadOf(load), atMost: 20 },
    {
      measure: 'load 1,000 flags ÷ JS SHA-1 floor of as many',
      value: median(share),
      unit: '×',
      spread: spreadOf(share),
      guard: 'more is worse',
    },
    { measure: 'recompile after one change', value: median(update), unit: 'ms', spread: spreadOf(update), atMost: 0.2 },
  ]
}

function heapFigures(): Figure[] {
  const kilobytes = heapBytesPerFlag(mixedDefinitions(10_000)) / 1024
  if (Number.isNaN(kilobytes)) return []
  return [
    {
      measure: 'heap per flag, its definition included',
      value: kilobytes,
      unit: 'KB',
      atMost: 2.5,
      guard: 'more is worse',
    },
  ]
}
