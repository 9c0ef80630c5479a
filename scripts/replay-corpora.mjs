// `node scripts/replay-corpora.mjs --unleash DIRECTORY --growthbook cases.json --flagsmith DIRECTORY --flagd DIRECTORY`:
// replays the test data of other services, from copies that you have, through the importers.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureInstalled, root } from './prepare.mjs'

const sources = ['unleash', 'growthbook', 'flagsmith', 'flagd']
const { values } = parseArgs({
  options: Object.fromEntries(sources.map(name => [name, { type: 'string', default: '' }])),
})

await ensureInstalled('test')
const { build } = await import('esbuild')
const outfile = join(root, '.cache', 'replay-corpora.mjs')
await build({
  entryPoints: [join(root, 'tests', 'imports', 'replay.ts')],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  conditions: ['halyard-source'],
  external: ['re2js'],
  logLevel: 'warning',
})
const { status } = spawnSync(process.execPath, [outfile, ...sources.map(name => values[name])], {
  cwd: process.cwd(),
  stdio: 'inherit',
})
process.exit(status ?? 1)
