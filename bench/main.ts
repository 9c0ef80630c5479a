import { cpus, loadavg, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { createInstallations } from './installation.ts'
import { startLoad } from './load.ts'
import { type Figure, isAlarming, sizes } from './measure.ts'
import { createPeers, noPeers } from './peers.ts'
import { publish, readExpected, readRecords, recordsPath, writeExpected, writeRecords } from './records.ts'
import { lineOf, markdownOf, type RowRecord } from './report.ts'
import type { Row } from './row.ts'
import { blastRadius } from './rows/blast-radius.ts'
import { browser } from './rows/browser.ts'
import { clients } from './rows/clients.ts'
import { definitions } from './rows/definitions.ts'
import { engine } from './rows/engine.ts'
import { evaluation } from './rows/evaluation.ts'
import { growth } from './rows/growth.ts'
import { management } from './rows/management.ts'
import { memory } from './rows/memory.ts'
import { overload } from './rows/overload.ts'
import { start } from './rows/start.ts'
import { idleStreams, streams } from './rows/streams.ts'

/**
 * `npm run bench -- [row …] [--size=full|smoke|tiny] [--no-peers] [--json=path]` measures, prints and records the results. `--publish`
 * also updates docs/reference/performance.md, `--table` does only that, without measuring. `--guard` fails when a figure
 * is far worse than in bench/expected.json, `--set-expected` writes that file.
 */
const rows: Readonly<Record<string, Row>> = {
  engine,
  evaluation,
  definitions,
  management,
  memory,
  start,
  streams,
  clients,
  'idle-streams': idleStreams,
  'blast-radius': blastRadius,
  growth,
  overload,
  browser,
}
const names = Object.keys(rows)

const args = process.argv.slice(2)
const option = (name: string) => args.find(arg => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
const size = sizes[(option('size') ?? 'full') as keyof typeof sizes]
const chosen = args.filter(arg => !arg.startsWith('--'))
if (!size || chosen.some(name => !names.includes(name))) {
  console.error(`Rows: ${names.join(', ')}. Sizes: ${Object.keys(sizes).join(', ')}.`)
  process.exit(1)
}
const path = option('json') === undefined ? recordsPath(size.name) : resolve(option('json')!)
const log = (line: string) => console.log(line)

if (args.includes('--table')) {
  log(markdownOf(readRecords(path), names))
  log(`\nWritten into ${publish(readRecords(path), names)}`)
  process.exit()
}

const context = {
  size,
  log,
  installations: createInstallations(log),
  load: startLoad(),
  peers: args.includes('--no-peers') ? noPeers : createPeers(log),
}
const expected = readExpected()
const alarmsOf = (figures: readonly Figure[]) => figures.filter(figure => isAlarming(figure, expected[figure.measure]))
const alarms: Figure[] = []
const found: Record<string, RowRecord> = {}
try {
  for (const name of chosen.length > 0 ? chosen : names) {
    let figures = await measure(name)
    if (args.includes('--guard') && alarmsOf(figures).length > 0) {
      log('  Much worse than expected. Measuring again:')
      figures = await measure(name)
      alarms.push(...alarmsOf(figures))
    }
  }
} finally {
  await context.load.stop()
  await context.installations.close()
}

/** Measures one row and records it immediately, so that a failure of a later row loses nothing. */
async function measure(name: string): Promise<readonly Figure[]> {
  log(`\n${name}`)
  const before = loadavg()[0]!
  const figures = await rows[name]!(context)
  for (const figure of figures) log(lineOf(figure))
  const machine = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processors: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    memoryMegabytes: Math.round(totalmem() / 2 ** 20),
  }
  const load = [before, loadavg()[0]!] as const
  found[name] = { at: new Date().toISOString(), size: size!.name, machine, load, figures }
  writeRecords(path, { [name]: found[name] })
  return figures
}

log(`\nWritten to ${path}`)
if (args.includes('--publish')) log(`Written into ${publish(readRecords(path), names)}`)
if (args.includes('--set-expected')) writeExpected(Object.values(found).flatMap(({ figures }) => figures))
if (alarms.length > 0) {
  console.error(`\nMuch worse than in bench/expected.json:`)
  for (const figure of alarms) console.error(`${lineOf(figure)} was ${expected[figure.measure]}`)
  process.exit(1)
}
