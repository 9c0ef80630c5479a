import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { dirname, resolve } from 'node:path'
import { createInstallations } from './installation.ts'
import { startLoad } from './load.ts'
import { type Figure, isAlarming, isMet, sizes } from './measure.ts'
import { createPeers, noPeers } from './peers.ts'
import type { Row } from './row.ts'
import { blastRadius } from './rows/blast-radius.ts'
import { definitions } from './rows/definitions.ts'
import { engine } from './rows/engine.ts'
import { evaluation } from './rows/evaluation.ts'
import { growth } from './rows/growth.ts'
import { management } from './rows/management.ts'
import { memory } from './rows/memory.ts'
import { start } from './rows/start.ts'
import { idleStreams, streams } from './rows/streams.ts'

/**
 * `npm run bench -- [row …] [--size=full|smoke|tiny] [--no-peers] [--guard] [--json=path]`: measures, prints, and writes what it
 * has found. With `--guard` it fails when a figure is far off.
 */
const rows: Readonly<Record<string, Row>> = {
  engine,
  evaluation,
  definitions,
  management,
  memory,
  start,
  streams,
  'idle-streams': idleStreams,
  'blast-radius': blastRadius,
  growth,
}

const args = process.argv.slice(2)
const option = (name: string) => args.find(arg => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
const size = sizes[(option('size') ?? 'full') as keyof typeof sizes]
const chosen = args.filter(arg => !arg.startsWith('--'))
const unknown = chosen.filter(name => !(name in rows))
if (!size || unknown.length > 0) {
  console.error(`Rows: ${Object.keys(rows).join(', ')}. Sizes: ${Object.keys(sizes).join(', ')}.`)
  process.exit(1)
}

const say = (line: string) => console.log(line)
const kit = {
  size,
  say,
  installations: createInstallations(say),
  load: startLoad(),
  peers: args.includes('--no-peers') ? noPeers : createPeers(say),
}
const found: Record<string, readonly Figure[]> = {}
try {
  for (const name of chosen.length > 0 ? chosen : Object.keys(rows)) {
    say(`\n${name}`)
    found[name] = await rows[name]!(kit)
    for (const figure of found[name]) say(lineOf(figure))
  }
} finally {
  await kit.load.stop()
  await kit.installations.close()
}

const machine = {
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  processors: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  memoryMegabytes: Math.round(totalmem() / 2 ** 20),
  loadAverage: loadavg(),
}
const path = resolve(option('json') ?? 'bench/.cache/results.json')
mkdirSync(dirname(path), { recursive: true })
writeFileSync(
  path,
  `${JSON.stringify({ at: new Date().toISOString(), size: size.name, machine, rows: found }, null, 2)}\n`,
)
say(`\nWritten to ${path}`)

const alarms = Object.values(found).flat().filter(isAlarming)
if (args.includes('--guard') && alarms.length > 0) {
  console.error(`\nFar off:\n${alarms.map(lineOf).join('\n')}`)
  process.exit(1)
}

function lineOf(figure: Figure): string {
  const { measure, value, unit, spread, atMost, atLeast, note } = figure
  const bar = atMost !== undefined ? `≤ ${atMost}` : atLeast !== undefined ? `≥ ${atLeast}` : ''
  const met = isMet(figure)
  const verdict = met === undefined ? '' : met ? 'met' : 'missed'
  const range = spread ? `(${numberOf(spread[0])} to ${numberOf(spread[1])})` : ''
  const text = `${numberOf(value)} ${unit}`
  return `  ${measure.padEnd(66)} ${text.padStart(16)} ${range.padEnd(22)} ${bar.padEnd(8)} ${verdict}${note ? ` ${note}` : ''}`
}

function numberOf(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(value >= 0.1 ? 2 : 3)
}
