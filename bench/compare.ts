import type { Turn } from './load.ts'
import { type Figure, median, ratios, spreadOf } from './measure.ts'

type Key = 'perSecond' | 'cpuEach' | 'p99'

const of = (turns: readonly Turn[], key: Key): number[] => turns.map(turn => turn[key])

export const rates = (turns: readonly Turn[]): string =>
  `${median(of(turns, 'perSecond')).toFixed(0)} requests/s, p99 ${median(of(turns, 'p99')).toFixed(1)} ms`

/** Throughput, processor time and tail against the floor's, each as a ratio within the turn. */
export function compareWithFloor(
  name: string,
  own: readonly Turn[],
  floor: readonly Turn[],
  held: { readonly atLeast?: number } = {},
): Figure[] {
  const speed = ratios(of(own, 'perSecond'), of(floor, 'perSecond'))
  const cpu = ratios(of(floor, 'cpuEach'), of(own, 'cpuEach'))
  const tail = ratios(of(own, 'p99'), of(floor, 'p99'))
  return [
    { measure: `${name}: requests/s ÷ floor`, value: median(speed), unit: '×', spread: spreadOf(speed), ...held },
    {
      measure: `${name}: the same by processor time of the server`,
      value: median(cpu),
      unit: '×',
      spread: spreadOf(cpu),
      ...held,
      guard: 'less is worse',
    },
    { measure: `${name}: p99 ÷ floor's p99`, value: median(tail), unit: '×', spread: spreadOf(tail), atMost: 2 },
  ]
}

/** How many times as many requests as a peer answers; nothing when the peer was not there. */
export function compareWithPeer(
  name: string,
  peer: string,
  own: readonly Turn[],
  theirs: readonly Turn[] | undefined,
  atLeast?: number,
): Figure[] {
  if (!theirs) return []
  const speed = ratios(of(own, 'perSecond'), of(theirs, 'perSecond'))
  const cpu = median(ratios(of(theirs, 'cpuEach'), of(own, 'cpuEach')))
  return [
    {
      measure: `${name}: requests/s ÷ ${peer}`,
      value: median(speed),
      unit: '×',
      spread: spreadOf(speed),
      ...(atLeast !== undefined && { atLeast }),
      note: `${cpu.toFixed(1)} × by processor time of the servers`,
    },
  ]
}
