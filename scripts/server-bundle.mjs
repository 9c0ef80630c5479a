// How the server is bundled: shared by the build and by `npm run dev`.
import { chmodSync } from 'node:fs'
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

/** Native or file-reading packages, and packages that a start does not need. Everything else is bundled, which loads faster. */
export const externalPackages = ['@photostructure/sqlite', 'pg', 'undici', 'esbuild', 'quickjs-wasi']
/** Fastify requires these only to compile schemas or for `inject`, which production code never does. */
const unusedByFastify = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']

export const serverOptions = {
  ...bundleOptions,
  platform: 'node',
  entryPoints: {
    halyard: join(source, 'cli/launch.ts'),
    program: join(source, 'cli/main.ts'),
    'scan-worker': join(source, 'features/impact/scan/scan-worker.ts'),
    'otlp-telemetry': join(source, 'observability/telemetry/otlp-telemetry.ts'),
    'sandbox-worker': join(source, 'sandbox/sandbox-worker.ts'),
  },
  outdir: dist,
  external: [...externalPackages, ...unusedByFastify],
  // Smaller in memory and faster to parse; names stay, so that stack traces can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  // Bundled CommonJS packages call `require`, which modules lack.
  banner: {
    js: "import { createRequire as halyardRequire } from 'node:module'; const require = halyardRequire(import.meta.url);",
  },
}

export const makeExecutable = () => chmodSync(join(dist, 'halyard.js'), 0o755)
