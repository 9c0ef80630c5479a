import type { Round } from './load.ts'
import { type Figure, median, ratios, spreadOf } from './measure.ts'

type Key = 'perSecond' | 'cpuEach' | 'p99'

const of = (rounds: readonly Round[], key: Key): number[] => rounds.map(round => round[key])

export const rates = (rounds: readonly Round[]): string =>
  `${median(of(rounds, 'perSecond')).toFixed(0)} requests/s, p99 ${median(of(rounds, 'p99')).toFixed(1)} ms`

/** Throughput, CPU time and p99 relative to the baseline, as ratios within each round. */
export function compareWithBaseline(
  name: string,
  own: readonly Round[],
  baseline: readonly Round[],
  target: { readonly atLeast?: number } = {},
): Figure[] {
  const speed = ratios(of(own, 'perSecond'), of(baseline, 'perSecond'))
  const cpu = ratios(of(baseline, 'cpuEach'), of(own, 'cpuEach'))
  const tail = ratios(of(own, 'p99'), of(baseline, 'p99'))
  return [
    { measure: `${name}: requests/s ÷ baseline`, value: median(speed), unit: '×', spread: spreadOf(speed), ...target },
    {
      measure: `${name}: same by server CPU time`,
      value: median(cpu),
      unit: '×',
      spread: spreadOf(cpu),
      ...target,
      guard: 'less is worse',
    },
    { measure: `${name}: p99 ÷ baseline p99`, value: median(tail), unit: '×', spread: spreadOf(tail), atMost: 2 },
  ]
}

/** Throughput relative to a peer; empty when the peer, or the Node that it is compared on, is not installed. */
export function compareWithPeer(
  name: string,
  peer: string,
  own: readonly Round[] | undefined,
  theirs: readonly Round[] | undefined,
  atLeast?: number,
): Figure[] {
  if (!own || !theirs) return []
  const speed = ratios(of(own, 'perSecond'), of(theirs, 'perSecond'))
  const cpu = median(ratios(of(theirs, 'cpuEach'), of(own, 'cpuEach')))
  return [
    {
      measure: `${name}: requests/s ÷ ${peer}`,
      value: median(speed),
      unit: '×',
      spread: spreadOf(speed),
      ...(atLeast !== undefined && { atLeast }),
      note: `${cpu.toFixed(1)} × by server CPU time`,
    },
  ]
}
