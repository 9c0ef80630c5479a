// `npm run bench`: installs and builds if necessary, bundles the benchmark, and runs it.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root } from '../scripts/prepare.mjs'

await ensureInstalled('test')
ensureBuilt()

// Imported late, because esbuild may have been installed just now.
const { build } = await import('esbuild')
const bench = join(root, 'bench')
await build({
  entryPoints: ['main', 'load-generator', 'baseline-server'].map(name => join(bench, `${name}.ts`)),
  outdir: join(bench, '.cache'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  // A checkout has no built packages.
  alias: Object.fromEntries(
    ['engine', 'contract'].map(name => [`@halyard/${name}`, join(root, `packages/${name}/src/index.ts`)]),
  ),
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
