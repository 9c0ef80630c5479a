// How the server is bundled: shared by the build and by `npm run dev`.
import { chmodSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const source = join(root, 'packages/server/src')
export const dist = join(root, 'packages/server/dist')

export const bundleOptions = {
  bundle: true,
  format: 'esm',
  target: 'node20',
  conditions: ['halyard-source'],
  sourcemap: 'linked',
  logLevel: 'warning',
  legalComments: 'none',
}

/** Native or file-reading packages. Everything else is bundled. */
export const externalPackages = ['@photostructure/sqlite', 'pg', 'undici', 'esbuild', 'quickjs-wasi']

const nodeOptions = {
  ...bundleOptions,
  platform: 'node',
  outdir: dist,
  external: externalPackages,
  // Smaller in memory and faster to parse; names stay, so that stack traces can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  // Bundled CommonJS packages call `require`, which modules lack.
  banner: {
    js: "import { createRequire as halyardRequire } from 'node:module'; const require = halyardRequire(import.meta.url);",
  },
}

/** Each command is a file of its own. All files are in one folder, because some are located relative to `import.meta.url`. */
const programOptions = {
  ...nodeOptions,
  entryPoints: {
    halyard: join(source, 'cli/launch.ts'),
    program: join(source, 'cli/main.ts'),
    server: join(source, 'cli/serve/serve.ts'),
    edge: join(source, 'cli/edge.ts'),
  },
  splitting: true,
  chunkNames: '[name]-[hash]',
}

/** Each worker thread reads one file. */
const workerOptions = {
  ...nodeOptions,
  entryPoints: {
    'scan-worker': join(source, 'evaluation/scan/scan-worker.ts'),
    'import-worker': join(source, 'features/imports/thread/import-worker.ts'),
    'sandbox-worker': join(source, 'sandbox/sandbox-worker.ts'),
  },
}

export const serverBundles = [programOptions, workerOptions]

/** Removes the files of an earlier build, whose names hold hashes of their contents. A program that is starting finds all of its own. */
export function removeOtherBundles(names) {
  for (const name of readdirSync(dist)) if (/\.js(\.map)?$/.test(name) && !names.has(name)) rmSync(join(dist, name))
}

export const makeExecutable = () => chmodSync(join(dist, 'halyard.js'), 0o755)
