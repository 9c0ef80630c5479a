import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { build } from 'esbuild'
import { defineConfig, type Plugin } from 'vite'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: at('.'),
  plugins: [react(), contractTable(), swaggerFonts(), swaggerLicense()],
  resolve: { conditions: ['halyard-source', 'module', 'browser', 'production'] },
  build: {
    outDir: at('../server/dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // Browsers that know light-dark(), which would otherwise be rewritten so that it no longer follows the chosen scheme.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // An inlined asset would need a looser Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Swagger UI, which only the API reference loads.
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: { main: at('index.html'), apiDocs: at('api-docs.html') },
      // What every page needs is one file; otherwise each small module that two pages share becomes one.
      output: {
        codeSplitting: {
          groups: [
            { name: 'libraries', test: /node_modules\/(react|react-dom|@mantine|@tanstack)\//, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8000', '/flags': 'http://127.0.0.1:8000' } },
})

const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(item => typeof item === 'string')

/**
 * In the browser the table of routes is methods and paths alone; limits and lists of names stay. The schemas have done their work when
 * the types were checked, so neither they nor their library are sent.
 */
function contractTable(): Plugin {
  const id = '\0halyard-contract'
  return {
    name: 'contract-table',
    enforce: 'pre',
    resolveId: source => (source === '@halyard/contract' ? id : null),
    async load(wanted) {
      if (wanted !== id) return null
      const { routes, policyComparisons: _reExported, ...rest } = await readContract()
      const plainValues = Object.entries(rest).filter(([, value]) => typeof value === 'number' || isTextList(value))
      const plain = Object.fromEntries(
        Object.entries(routes).map(([group, members]) => [
          group,
          Object.fromEntries(Object.entries(members).map(([name, { method, path }]) => [name, { method, path }])),
        ]),
      )
      const constants = Object.entries({ routes: plain, ...Object.fromEntries(plainValues) }).map(
        ([name, value]) => `export const ${name} = ${JSON.stringify(value)}`,
      )
      // These import types only.
      const client = `export { urlOf } from ${JSON.stringify(at('../contract/src/api-client.ts'))}`
      const modules = ['change-control/policy-fields.ts', 'scopes.ts'].map(
        path => `export * from ${JSON.stringify(at(`../contract/src/${path}`))}`,
      )
      return [client, ...modules, ...constants].join('\n')
    },
  }
}

/** Swagger UI names the system's fonts in dozens of rules. */
function swaggerFonts(): Plugin {
  return {
    name: 'swagger-fonts',
    enforce: 'pre',
    transform: (code, id) =>
      id.endsWith('/swagger-ui.css')
        ? code
            .replaceAll('font-family:sans-serif', 'font-family:"Inter Variable",sans-serif')
            .replaceAll(
              /font-family:(Consolas,monaco,)?monospace(,monospace)?/g,
              'font-family:"IBM Plex Mono",monospace',
            )
        : null,
  }
}

/** Swagger UI is distributed under the Apache License, which must accompany it. */
function swaggerLicense(): Plugin {
  const { resolve } = createRequire(import.meta.url)
  const read = (name: string): string => readFileSync(resolve(`swagger-ui-dist/${name}`), 'utf8')
  return {
    name: 'swagger-license',
    generateBundle() {
      const source = ['NOTICE', 'LICENSE', 'swagger-ui-es-bundle.js.LICENSE.txt'].map(read).join('\n')
      this.emitFile({ type: 'asset', fileName: 'swagger-ui.LICENSE.txt', source })
    },
  }
}

async function readContract(): Promise<{
  routes: Record<string, Record<string, { method: string; path: string }>>
  scopeObjects: readonly string[]
  [limit: string]: unknown
}> {
  const { outputFiles } = await build({
    entryPoints: [at('../contract/src/index.ts')],
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['halyard-source'],
    write: false,
  })
  const code = Buffer.from(outputFiles[0]!.contents).toString('base64')
  return import(`data:text/javascript;base64,${code}`)
}
