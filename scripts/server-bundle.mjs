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

/**
 * Loads Node's own modules with `require`. An ES import reads every export of a module, and with `node:http` that alone loads a whole
 * fetch implementation: 80 ms of CPU time and 10 MB on Node 22 and 24.
 */
const requireBuiltins = {
  name: 'require-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin' } : { path, external: true },
    )
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }))
  },
}

/** Leaves out what Fastify requires for HTTP/2 servers only: 20 ms of CPU time and 4 MB. */
const omitHttp2 = {
  name: 'omit-http2',
  setup(build) {
    build.onResolve({ filter: /^node:http2$/ }, ({ path }) => ({ path, namespace: 'omitted' }))
    build.onLoad({ filter: /.*/, namespace: 'omitted' }, () => ({ contents: '' }))
  },
}

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
  plugins: [omitHttp2, requireBuiltins],
  // Smaller in memory and faster to parse; names stay, so that stack traces can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  // Bundled CommonJS packages call `require`, which modules lack.
  banner: {
    js: "import { createRequire as halyardRequire } from 'node:module'; const require = halyardRequire(import.meta.url);",
  },
}

export const makeExecutable = () => chmodSync(join(dist, 'halyard.js'), 0o755)
