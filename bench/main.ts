import { cpus, loadavg, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { createInstallations } from './installation.ts'
import { startLoad } from './load.ts'
import { sizes } from './measure.ts'
import { createPeers, noPeers } from './peers.ts'
import { publish, readRecords, recordsPath, writeRecords } from './records.ts'
import { lineOf, markdownOf } from './report.ts'
import type { Row } from './row.ts'
import { browser } from './rows/browser.ts'
import { evaluation } from './rows/evaluation.ts'
import { management } from './rows/management.ts'
import { overload } from './rows/overload.ts'
import { streams } from './rows/streams.ts'

/**
 * `npm run bench -- [row …] [--size=full|smoke|tiny] [--no-peers] [--json=path]` measures, prints and records the results. `--publish`
 * also updates docs/reference/performance.md, `--table` does only that, without measuring.
 */
const rows: Readonly<Record<string, Row>> = { evaluation, management, streams, overload, browser }
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
try {
  for (const name of chosen.length > 0 ? chosen : names) await measure(name)
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
if (args.includes('--publish')) log(`Written into ${publish(readRecords(path), names)}`)
