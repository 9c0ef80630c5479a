import { type Figure, isMet } from './measure.ts'

/** The recorded results of one row, with the time and the machine. */
export interface RowRecord {
  readonly at: string
  readonly size: string
  readonly machine: Machine
  /** The one-minute load average before and after the row, as a measure of other load on the machine. */
  readonly load: readonly [number, number]
  readonly figures: readonly Figure[]
}

export interface Machine {
  readonly node: string
  readonly platform: string
  readonly processors: string
  readonly memoryMegabytes: number
}

export type Records = Readonly<Record<string, RowRecord>>

export function lineOf(figure: Figure): string {
  const { measure, note } = figure
  return `  ${measure.padEnd(90)} ${amountOf(figure).padStart(12)} ${rangeOf(figure).padEnd(20)} ${targetOf(figure).padEnd(7)} ${verdictOf(figure)}${note ? ` (${note})` : ''}`
}

/** One table per row, in the order in which they run. */
export function markdownOf(records: Records, order: readonly string[]): string {
  const rows = order.flatMap(name => (records[name] ? [[name, records[name]] as const] : []))
  return rows.map(([name, record]) => `${captionOf(name, record)}\n\n${tableOf(record)}`).join('\n\n')
}

function captionOf(name: string, { at, size, machine, load }: RowRecord): string {
  const when = `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
  const small = size === 'full' ? '' : ` Size: ${size}.`
  const loads = load.map(value => value.toFixed(1)).join(' before and ')
  return `**${name}**: ${when}, Node ${machine.node.slice(1)}, load average ${loads} after.${small}`
}

function tableOf({ figures }: RowRecord): string {
  const lines = figures.map(figure => {
    const note = figure.note ? `; ${figure.note}` : ''
    const range = rangeOf(figure)
    return `| ${figure.measure} | ${targetOf(figure)} | ${amountOf(figure)}${range ? ` ${range}` : ''}${note} | ${verdictOf(figure)} |`
  })
  return ['| measure | target | median (p10–p90) | |', '|---|---|---|---|', ...lines].join('\n')
}

const targetOf = ({ atMost, atLeast }: Figure): string =>
  atMost !== undefined ? `≤ ${atMost}` : atLeast !== undefined ? `≥ ${atLeast}` : ''

const rangeOf = ({ spread }: Figure): string => (spread ? `(${numberOf(spread[0])}–${numberOf(spread[1])})` : '')

const amountOf = ({ value, unit }: Figure): string => `${numberOf(value)} ${unit}`

function verdictOf(figure: Figure): string {
  const met = isMet(figure)
  return met === undefined ? '' : met ? 'met' : '**missed**'
}

function numberOf(value: number): string {
  if (value === 0) return '0'
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(value >= 0.1 ? 2 : 3)
}
