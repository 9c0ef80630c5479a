// Runs a TypeScript program of the checkout, bundled from the packages' sources.
import { spawnSync } from 'node:child_process'
import { basename, join } from 'node:path'
import { root } from './prepare.mjs'

/** Ends this process with the program's exit code. */
export async function runBundled(path, args, options = {}) {
  const { build } = await import('esbuild')
  const outfile = join(root, '.cache', basename(path).replace(/\.ts$/, '.mjs'))
  await build({
    entryPoints: [join(root, path)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['halyard-source'],
    external: ['re2js', 'yaml'],
    logLevel: 'warning',
  })
  const { status } = spawnSync(process.execPath, [outfile, ...args], { stdio: 'inherit', ...options })
  process.exit(status ?? 1)
}
