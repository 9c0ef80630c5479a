import { cpus, loadavg, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { createInstallations } from './installation.ts'
import { startLoad } from './load.ts'
import { type Size, sizes } from './measure.ts'
import { createPeers, noPeers } from './peers.ts'
import { publish, readRecords, recordsPath, writeRecords } from './records.ts'
import { lineOf, markdownOf } from './report.ts'
import type { Row } from './row.ts'
import { audit } from './rows/audit.ts'
import { browser } from './rows/browser.ts'
import { evaluation } from './rows/evaluation.ts'
import { management } from './rows/management.ts'
import { overload } from './rows/overload.ts'
import { scaleBehavior } from './rows/scale-behavior.ts'
import { scaleEvents } from './rows/scale-events.ts'
import { scalePersons } from './rows/scale-persons.ts'
import { scaleStreams } from './rows/scale-streams.ts'
import { streams } from './rows/streams.ts'

/**
 * `npm run bench -- [row …] [--size=full|smoke|tiny] [--no-peers] [--json=path]` measures, prints and records the results. `--publish`
 * also updates the pages with the results, `--table` does only that, without measuring. `--flags=10,100` bounds `evaluation`. `scale` stands
 * for four rows that take long and run only when they are named; `--persons=1000000,3000000`, `--minutes=10`, `--databases=PostgreSQL` and
 * `--streams=20000` bound them.
 */
const usualRows: Readonly<Record<string, Row>> = { evaluation, management, streams, overload, browser, audit }
const scaleRows: Readonly<Record<string, Row>> = {
  'scale-persons': scalePersons,
  'scale-events': scaleEvents,
  'scale-behavior': scaleBehavior,
  'scale-streams': scaleStreams,
}
const rows = { ...usualRows, ...scaleRows }
const names = Object.keys(rows)

const args = process.argv.slice(2)
const option = (name: string) => args.find(arg => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
const size = withOptions(sizes[(option('size') ?? 'full') as keyof typeof sizes])
const chosen = args
  .filter(arg => !arg.startsWith('--'))
  .flatMap(name => (name === 'scale' ? Object.keys(scaleRows) : [name]))
if (!size || chosen.some(name => !names.includes(name))) {
  console.error(`Rows: ${names.join(', ')}, scale. Sizes: ${Object.keys(sizes).join(', ')}.`)
  process.exit(1)
}
const path = option('json') === undefined ? recordsPath(size.name) : resolve(option('json')!)
const log = (line: string) => console.log(line)

if (args.includes('--table')) {
  log(markdownOf(readRecords(path), names))
  publishAll()
  process.exit()
}

const context = {
  size,
  log,
  installations: createInstallations(log),
  load: startLoad(),
  peers: args.includes('--no-peers') ? noPeers : createPeers(log),
}
try {
  const usual = size.name === 'tiny' ? names : Object.keys(usualRows)
  for (const name of chosen.length > 0 ? chosen : usual) await measure(name)
} finally {
  await context.load.stop()
  await context.installations.close()
}

/** Measures one row and records it immediately, so that a failure of a later row loses nothing. */
async function measure(name: string): Promise<void> {
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
  writeRecords(path, { [name]: { at: new Date().toISOString(), size: size!.name, machine, load, figures } })
}

log(`\nWritten to ${path}`)
if (args.includes('--publish')) publishAll()

function publishAll(): void {
  for (const [document, order] of [
    ['docs/reference/performance.md', Object.keys(usualRows)],
    ['docs/operate/scale.md', Object.keys(scaleRows)],
  ] as const) {
    const records = readRecords(path)
    if (!order.some(name => records[name])) continue
    publish(document, records, order)
    log(`\nWritten into ${document}`)
  }
}

/** The size with what the command line says about `evaluation` and the rows of `scale`. */
function withOptions(chosenSize: Size | undefined): Size | undefined {
  const [flags, persons, minutes, databases, streamCount] = ['flags', 'persons', 'minutes', 'databases', 'streams'].map(
    option,
  )
  return (
    chosenSize && {
      ...chosenSize,
      ...(flags !== undefined && { flagCounts: flags.split(',').map(Number) }),
      ...(persons !== undefined && { scalePersons: persons.split(',').map(Number) }),
      ...(minutes !== undefined && { scaleEventMilliseconds: Number(minutes) * 60_000 }),
      ...(databases !== undefined && { behaviorDatabases: databases.split(',') }),
      ...(streamCount !== undefined && { scaleStreams: Number(streamCount) }),
    }
  )
}
