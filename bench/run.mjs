// `npm run bench`: installs and builds what is missing, bundles the bench, and runs it.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root } from '../scripts/prepare.mjs'

await ensureInstalled('test')
ensureBuilt()

// Only now: before the first installation there is no bundler.
const { build } = await import('esbuild')
const bench = join(root, 'bench')
await build({
  entryPoints: ['main', 'load-generator', 'floor-server', 'engine-contestant', 'flagd-server'].map(name =>
    join(bench, `${name}.ts`),
  ),
  outdir: join(bench, '.cache'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // What is measured is what is built.
  packages: 'external',
  logLevel: 'warning',
})
const { status } = spawnSync(
  process.execPath,
  ['--expose-gc', join(bench, '.cache', 'main.mjs'), ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: 'inherit',
  },
)
process.exit(status ?? 1)
