import type { Round } from './load.ts'
import { type Figure, median, ratios, spreadOf } from './measure.ts'

type Key = 'perSecond' | 'cpuEach' | 'p99'

const of = (rounds: readonly Round[], key: Key): number[] => rounds.map(round => round[key])
const ratiosBy = (key: Key) => (over: readonly Round[], under: readonly Round[]) =>
  ratios(of(over, key), of(under, key))

/** Ratios within each round. */
export const speedRatios = ratiosBy('perSecond')
export const cpuRatios = ratiosBy('cpuEach')
export const tailRatios = ratiosBy('p99')

export const rates = (rounds: readonly Round[]): string =>
  `${median(of(rounds, 'perSecond')).toFixed(0)} requests/s, ${median(of(rounds, 'cpuEach')).toFixed(0)} µs CPU, p99 ${median(of(rounds, 'p99')).toFixed(1)} ms`

/** Throughput relative to a peer; empty when the peer, or the Node that it is compared on, is not installed. */
export function compareWithPeer(
  name: string,
  peer: string,
  own: readonly Round[] | undefined,
  theirs: readonly Round[] | undefined,
): Figure[] {
  if (!own || !theirs) return []
  const speed = speedRatios(own, theirs)
  const note = `${median(cpuRatios(theirs, own)).toFixed(1)} by CPU time`
  return [{ measure: `${name}: requests/s ÷ ${peer}`, value: median(speed), unit: '×', spread: spreadOf(speed), note }]
}
