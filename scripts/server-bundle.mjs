// How the server is bundled: shared by the build and by `npm run dev`.
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
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
 * Loads Node's own modules with `require`, and reads only the exports that are imported. An ES import reads every export of a module, and with
 * `node:http` that alone loads a whole fetch implementation: 80 ms of CPU time and 10 MB on Node 22 and 24.
 */
const requireBuiltins = {
  name: 'require-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin', sideEffects: false } : { path, external: true },
    )
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: requiredBuiltin(path) }))
  },
}

/** Marked as pure, so that the bundler drops every export that no file imports. */
function requiredBuiltin(path) {
  const names = Object.keys(createRequire(import.meta.url)(path)).filter(name => name !== 'default')
  return [
    `const requiredModule = require(${JSON.stringify(path)})`,
    'const exportNamed = name => requiredModule[name]',
    'export default requiredModule',
    ...names.map(name => `export const ${name} = /* @__PURE__ */ exportNamed(${JSON.stringify(name)})`),
  ].join('\n')
}

/**
 * Leaves out what packages require for features that Halyard does not use: Fastify for HTTP/2 servers (20 ms of CPU time and 4 MB), and
 * prom-client for exemplars.
 */
const omitUnused = {
  name: 'omit-unused',
  setup(build) {
    build.onResolve({ filter: /^node:http2$/ }, ({ path }) => ({ path, namespace: 'omitted' }))
    build.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path, importer }) =>
      /[\\/]prom-client[\\/]/.test(importer) ? { path, namespace: 'omitted' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'omitted' }, () => ({ contents: '' }))
  },
}

const nodeOptions = {
  ...bundleOptions,
  platform: 'node',
  outdir: dist,
  external: [...externalPackages, ...unusedByFastify],
  plugins: [omitUnused, requireBuiltins],
  // Smaller in memory and faster to parse; names stay, so that stack traces can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  // Bundled CommonJS packages call `require`, which modules lack.
  banner: {
    js: "import { createRequire as halyardRequire } from 'node:module'; const require = halyardRequire(import.meta.url);",
  },
}

/** The other commands import the server from its own bundle. */
const serverApart = {
  name: 'server-apart',
  setup(build) {
    build.onResolve({ filter: /\/server-main\.ts$/ }, () => ({ path: './server.js', external: true }))
  },
}

/**
 * What `import()` loads is a file of its own, which is read on first use: a start reads a command and what it imports statically. All files are
 * in one folder, because some are located relative to `import.meta.url`.
 */
const programOptions = {
  ...nodeOptions,
  entryPoints: {
    halyard: join(source, 'cli/launch.ts'),
    program: join(source, 'cli/main.ts'),
    edge: join(source, 'cli/edge.ts'),
  },
  plugins: [...nodeOptions.plugins, serverApart],
  splitting: true,
  chunkNames: '[name]-[hash]',
}

/** Bundled apart, because code that the commands share is split into many small files, which cost a fifth of the start. */
const serverOptions = {
  ...nodeOptions,
  entryPoints: { server: join(source, 'cli/serve/server-main.ts') },
  splitting: true,
  chunkNames: 'server-[name]-[hash]',
}

/** Each worker thread reads one file. Bundled apart, because sharing code with them would split the program into many small files. */
const workerOptions = {
  ...nodeOptions,
  entryPoints: {
    'scan-worker': join(source, 'features/impact/scan/scan-worker.ts'),
    'sandbox-worker': join(source, 'sandbox/sandbox-worker.ts'),
  },
}

export const serverBundles = [programOptions, serverOptions, workerOptions]

/** Removes the files of an earlier build, whose names hold hashes of their contents. */
export function removeServerBundles() {
  if (!existsSync(dist)) return
  for (const name of readdirSync(dist)) if (/\.js(\.map)?$/.test(name)) rmSync(join(dist, name))
}

export const makeExecutable = () => chmodSync(join(dist, 'halyard.js'), 0o755)
