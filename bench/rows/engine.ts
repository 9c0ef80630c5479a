import { heapBytesPerFlag } from '../engines/halyard.ts'
import { type EngineName, type RunningEngine, startEngine } from '../engines.ts'
import { type Figure, interleave, median, ratios, spreadOf } from '../measure.ts'
import { mixedDefinitions } from '../mix.ts'
import type { Row, RowContext } from '../row.ts'

/** The engine alone: relative to the hashes it requires and to other engines, and the cost of loading definitions. */
export const engine: Row = async context => {
  const figures: Figure[] = []
  for (const flagCount of context.size.flagCounts) figures.push(...(await evaluationFigures(context, flagCount)))
  return [...figures, ...(await loadFigures(context)), ...heapFigures()]
}

/** The engines to compare with, and the Node version that both run on. */
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

/** Evaluates all flags with value, payload and reason, and a single flag; at 100 flags interleaved with the peers. */
async function evaluationFigures({ size, peers, log }: RowContext, flagCount: number): Promise<Figure[]> {
  const isContest = flagCount === 100 && peers.areEnabled
  const nodes = { this: process.execPath, '22': isContest ? peers.node(22) : undefined }
  const running = new Map<string, RunningEngine>()
  const start = async (name: EngineName, on: 'this' | '22') => {
    const engine = nodes[on] && (await startEngine(peers, name, flagCount, nodes[on]))
    if (engine) running.set(`${name} ${on}`, engine)
    else if (nodes[on] || isContest) log(`  ${name} on ${lineOf(on)}: not installed`)
  }
  await start('halyard', 'this')
  if (nodes['22']) await start('halyard', '22')
  if (isContest) for (const { name, on } of rivals) await start(name, on)

  const contestants: Record<string, () => Promise<number>> = {}
  for (const [id, engine] of running) {
    const tasks = id.startsWith('halyard')
      ? ['baseline', 'all', 'one']
      : id.startsWith('flagd')
        ? ['all', 'one']
        : ['all']
    for (const task of tasks) contestants[`${id} ${task}`] = () => engine.run(task)
  }
  const times = await interleave(contestants, size.engineRounds, Math.min(size.engineRounds, 5))
  for (const engine of running.values()) await engine.stop()
  for (const [id, values] of Object.entries(times)) {
    log(`  ${flagCount} flags, ${id.replace(' this', '')}: ${(median(values) / 1000).toFixed(2)} µs`)
  }
  return [
    ...ownFigures(times, flagCount),
    ...(isContest ? rivals.flatMap(rival => rivalFigures(times, rival, flagCount)) : []),
  ]
}

type Times = Readonly<Record<string, readonly number[]>>

function ownFigures(times: Times, flagCount: number): Figure[] {
  const hasTarget = flagCount === 100
  const one = times['halyard this one']!.map(value => value / 1000)
  const figures: Figure[] = []
  for (const on of ['this', '22'] as const) {
    const [all, baseline] = [times[`halyard ${on} all`], times[`halyard ${on} baseline`]]
    if (!all || !baseline) continue
    const ratio = ratios(all, baseline)
    figures.push({
      measure: `engine, all of ${flagCount} flags ÷ JS SHA-1 baseline${on === 'this' ? '' : `, ${lineOf(on)}`}`,
      value: median(ratio),
      unit: '×',
      spread: spreadOf(ratio),
      ...(hasTarget && { atMost: 0.75 }),
      ...(hasTarget && on === 'this' && { guard: 'more is worse' }),
    })
  }
  return [
    ...figures,
    {
      measure: `engine, one flag of ${flagCount}`,
      value: median(one),
      unit: 'µs',
      spread: spreadOf(one),
      ...(hasTarget && { atMost: 1.2 }),
    },
  ]
}

function rivalFigures(times: Times, { name, on, atLeast }: (typeof rivals)[number], flagCount: number): Figure[] {
  const figures: Figure[] = []
  for (const task of ['all', 'one'] as const) {
    const [theirs, own] = [times[`${name} ${on} ${task}`], times[`halyard ${on} ${task}`]]
    if (!theirs || !own) continue
    const speedup = ratios(theirs, own)
    figures.push({
      measure: `engine, ${task} of ${flagCount} flags, speedup over ${name}, ${lineOf(on)}`,
      value: median(speedup),
      unit: '×',
      spread: spreadOf(speedup),
      ...(task === 'one' ? { atLeast: 1 } : atLeast !== undefined && { atLeast }),
    })
  }
  return figures
}

async function loadFigures({ size, peers }: RowContext): Promise<Figure[]> {
  const halyard = (await startEngine(peers, 'halyard', 1000))!
  const times = await interleave(
    { load: () => halyard.run('load'), update: () => halyard.run('update'), baseline: () => halyard.run('baseline') },
    size.engineRounds,
    Math.min(size.engineRounds, 5),
  )
  await halyard.stop()
  const load = times.load!.map(value => value / 1e6)
  const update = times.update!.map(value => value / 1e6)
  const ratio = ratios(times.load!, times.baseline!)
  return [
    { measure: 'load 1,000 flags', value: median(load), unit: 'ms', spread: spreadOf(load), atMost: 20 },
    {
      measure: 'load 1,000 flags ÷ JS SHA-1 baseline of 1,000 flags',
      value: median(ratio),
      unit: '×',
      spread: spreadOf(ratio),
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
      measure: 'heap per flag, including its definition',
      value: kilobytes,
      unit: 'KB',
      atMost: 2.5,
      guard: 'more is worse',
    },
  ]
}
