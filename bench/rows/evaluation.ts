import { ownerHeaders } from '../installation.ts'
import { startFloor, type Turn } from '../load.ts'
import { type Figure, interleave, median, ratios, spreadOf } from '../measure.ts'
import type { Kit, Row } from '../row.ts'

const bars: Readonly<Record<number, { readonly atLeast: number; readonly alarm: number }>> = {
  10: { atLeast: 0.75, alarm: 0.2 },
  100: { atLeast: 0.55, alarm: 0.15 },
  1000: { atLeast: 0.2, alarm: 0.05 },
}

/** `POST /flags/?v=2`, every request another user, against a bare server that answers as many bytes. */
export const evaluation: Row = async kit => {
  const figures: Figure[] = []
  for (const flagCount of kit.size.flagCounts) figures.push(...(await evaluationOf(kit, flagCount)))
  return figures
}

async function evaluationOf({ size, installations, load, say }: Kit, flagCount: number): Promise<Figure[]> {
  const halyard = await installations.start(flagCount)
  const plan = { kind: 'evaluate', token: halyard.token, users: size.users } as const
  const target = { id: `halyard ${flagCount}`, port: halyard.port, pid: halyard.pid, plan, status: 200 }
  const ask = await load.aim(target, size.connections)
  const { answerBytes } = await ask(size.turnMilliseconds / 2)
  const floor = await startFloor(answerBytes)
  const bare = await load.aim(
    { ...target, id: `floor ${flagCount}`, port: floor.port, pid: floor.pid },
    size.connections,
  )
  const turns = await interleave(
    { floor: () => bare(size.turnMilliseconds), halyard: () => ask(size.turnMilliseconds) },
    size.turns,
  )
  await floor.stop()
  await halyard.stop()
  say(
    `  ${flagCount} flags, ${answerBytes} bytes: ${rates(turns.halyard!)} against ${rates(turns.floor!)} of the floor`,
  )
  return compare(`POST /flags/?v=2, ${flagCount} flags`, turns.halyard!, turns.floor!, bars[flagCount])
}

const rates = (turns: readonly Turn[]): string => `${median(turns.map(turn => turn.perSecond)).toFixed(0)} requests/s`

/** Throughput, processor time and tail, each as a ratio within the turn. */
export function compare(
  name: string,
  own: readonly Turn[],
  floor: readonly Turn[],
  bar: { readonly atLeast?: number; readonly alarm?: number } = {},
): Figure[] {
  const of = (turns: readonly Turn[], key: 'perSecond' | 'cpuEach' | 'p99') => turns.map(turn => turn[key])
  const speed = ratios(of(own, 'perSecond'), of(floor, 'perSecond'))
  const cpu = ratios(of(floor, 'cpuEach'), of(own, 'cpuEach'))
  const tail = ratios(of(own, 'p99'), of(floor, 'p99'))
  const { alarm, ...held } = bar
  return [
    { measure: `${name}: requests/s ÷ floor`, value: median(speed), unit: '×', spread: spreadOf(speed), ...held },
    {
      measure: `${name}: the same by processor time of the server`,
      value: median(cpu),
      unit: '×',
      spread: spreadOf(cpu),
      ...held,
      ...(alarm !== undefined && { alarm }),
    },
    { measure: `${name}: p99 ÷ floor's p99`, value: median(tail), unit: '×', spread: spreadOf(tail), atMost: 2 },
  ]
}

/** `GET /flags/definitions`: unchanged against a bare 304, changed against a bare answer of the same size. */
export const definitions: Row = async ({ size, installations, load, say }) => {
  const halyard = await installations.start(100)
  const path = `/flags/definitions?token=${halyard.token}&send_cohorts`
  const first = await fetch(halyard.url + path, { headers: ownerHeaders })
  const bytes = (await first.arrayBuffer()).byteLength
  const etag = first.headers.get('etag')
  if (!etag) throw new Error('The definitions came without an ETag.')
  const request = { kind: 'same', method: 'GET', path } as const
  const unchanged = { ...request, headers: { ...ownerHeaders, 'if-none-match': etag } }
  const changed = { ...request, headers: ownerHeaders }
  const floors = { unchanged: await startFloor(0), changed: await startFloor(bytes) }
  const aim = (id: string, { port, pid }: { port: number; pid: number }, plan: typeof changed, status: number) =>
    load.aim({ id, port, pid, plan, status }, size.connections)
  const asks = {
    unchangedFloor: await aim('floor 304', floors.unchanged, unchanged, 304),
    unchanged: await aim('definitions 304', halyard, unchanged, 304),
    changedFloor: await aim('floor 200', floors.changed, changed, 200),
    changed: await aim('definitions 200', halyard, changed, 200),
  }
  const contestants = Object.fromEntries(
    Object.entries(asks).map(([name, ask]) => [name, () => ask(size.turnMilliseconds)]),
  )
  const turns = await interleave(contestants, size.turns)
  await Promise.all([floors.unchanged.stop(), floors.changed.stop(), halyard.stop()])
  say(`  304: ${rates(turns.unchanged!)}; 200 with ${bytes} bytes: ${rates(turns.changed!)}`)
  const bar = { atLeast: 0.8, alarm: 0.25 }
  return [
    ...compare('GET /flags/definitions, 304', turns.unchanged!, turns.unchangedFloor!, bar),
    ...compare('GET /flags/definitions, 200', turns.changed!, turns.changedFloor!).slice(0, 2),
  ]
}
