import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { build } from 'esbuild'
import { defineConfig, type HtmlTagDescriptor, type Plugin } from 'vite'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** The API reference is a page of its own, and large. */
const isOfApp = (id: string): boolean => !/swagger-ui|api-docs/.test(id)

/**
 * Left alone, each small module that two pages share becomes a file, and a page loads dozens of them. What signing in
 * needs is one file, and so is what every page needs; what some pages share is a few, each with the modules of about the same pages.
 */
const isOfFirst = await isNeededBy('src/main.ts')
const isOfStart = await isNeededBy('src/app/start.tsx')
const isOfList = await isNeededBy('src/flags/list/flags-page.tsx')
const isContract = (id: string): boolean =>
  id.endsWith('halyard-contract') || id === at('../contract/src/api-client.ts')
const chunkGroups = [
  { name: 'first', test: (id: string) => isOfFirst(id) || /vite\/preload-helper/.test(id), priority: 7 },
  { name: 'start', test: (id: string) => isOfStart(id) || isContract(id), priority: 6 },
  { name: 'app', test: await isNeededBy('src/app/start-app.tsx'), priority: 5 },
  // A part of a dialog imports one function of Floating UI, and so all of its files; menus are loaded later.
  { name: 'list', test: (id: string) => isOfList(id) || id.includes('@floating-ui'), priority: 4 },
  { name: 'menus', test: await isNeededBy('src/ui/layout/menu-at.tsx'), priority: 3 },
  { name: 'notices', test: await isNeededBy('src/app/notices.tsx'), priority: 3 },
  { name: 'review', test: await isNeededBy('src/flags/review/toggle-dialog.tsx'), priority: 2 },
  {
    name: 'shared',
    minShareCount: 2,
    test: isOfApp,
    entriesAware: true,
    entriesAwareMergeThreshold: 64 * 1024,
    priority: 1,
  },
]

export default defineConfig({
  root: at('.'),
  plugins: [
    react(),
    stableIds(),
    contractTable(),
    compileEarly(),
    preloadFont(),
    preloadChunks(),
    swaggerFonts(),
    swaggerLicense(),
  ],
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
      output: {
        codeSplitting: { groups: chunkGroups, includeDependenciesRecursively: false },
        // Grouped files import each other in circles: each module runs when it is first needed.
        strictExecutionOrder: true,
        // A shared file is named after all of its pages; the hash is enough.
        chunkFileNames: ({ name }) => `assets/${name.split('~')[0]}-[hash].js`,
        assetFileNames: ({ names }) => `assets/${names[0]?.replace(/(~.*)?\.[^.]*$/, '')}-[hash][extname]`,
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8000', '/flags': 'http://127.0.0.1:8000' } },
})

/** Which modules a module still needs after unused code is removed. What it imports at run time does not count. */
async function isNeededBy(module: string): Promise<(id: string) => boolean> {
  const { metafile } = await build({
    absWorkingDir: at('.'),
    entryPoints: [module],
    bundle: true,
    format: 'esm',
    conditions: ['halyard-source', 'module', 'browser', 'production'],
    define: { 'process.env.NODE_ENV': '"production"' },
    outdir: 'out',
    write: false,
    metafile: true,
    external: ['@halyard/contract'],
    loader: { '.woff2': 'empty' },
    plugins: [
      {
        name: 'without-later-imports',
        setup: ({ onResolve }) =>
          onResolve({ filter: /.*/ }, ({ path, kind }) =>
            kind === 'dynamic-import' ? { path, external: true } : null,
          ),
      },
    ],
  })
  const inputs = Object.values(metafile.outputs).flatMap(output => Object.entries(output.inputs))
  const modules = new Set(inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [at(path)] : [])))
  return id => modules.has(id)
}

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
      const { routes, ...rest } = await readContract()
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
      // It imports types only.
      const client = at('../contract/src/api-client.ts')
      return [`export { urlOf } from ${JSON.stringify(client)}`, ...constants].join('\n')
    },
  }
}

/**
 * Mantine's `useId` replaces the id after the first render, so that every field and menu renders twice before a page is visible. React's id
 * is unique already: nothing is rendered on a server.
 */
function stableIds(): Plugin {
  return {
    name: 'stable-ids',
    transform: (_code, id) =>
      /@mantine\/hooks\/esm\/use-id\/use-id\.mjs$/.test(id)
        ? `import { useId as useReactId } from 'react'
           export function useId(id) { const own = useReactId(); return typeof id === 'string' ? id : own }`
        : null,
  }
}

/**
 * The first file imports the others at run time, which the browser cannot foresee. What only signed-in users need is marked: the server
 * leaves it out of the sign-in page.
 */
function preloadChunks(): Plugin {
  return {
    name: 'preload-chunks',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {}, filename }) {
        if (filename !== at('index.html')) return []
        const chunks = Object.values(bundle).filter(file => file.type === 'chunk')
        const linked = new Set<string>()
        const linksOf = (
          chunk: (typeof chunks)[number] | undefined,
          marks: Record<string, boolean>,
        ): HtmlTagDescriptor[] => {
          if (!chunk || linked.has(chunk.fileName)) return []
          linked.add(chunk.fileName)
          const own = [chunk.fileName, ...(chunk.viteMetadata?.importedCss ?? [])]
            .filter(name => !html.includes(name))
            .map(name => {
              const rel = name.endsWith('.css') ? 'stylesheet' : 'modulepreload'
              return { tag: 'link', attrs: { rel, crossorigin: true, href: `/${name}`, ...marks }, injectTo: 'head' }
            })
          const imported = chunks.filter(({ fileName }) => chunk.imports.includes(fileName))
          return [...own, ...imported.flatMap(each => linksOf(each, marks))]
        }
        const chunkWith = (module: string) => chunks.find(({ moduleIds }) => moduleIds.includes(at(module)))
        return [
          ...linksOf(chunkWith('src/app/start.tsx'), {}),
          ...linksOf(chunkWith('src/app/start-app.tsx'), { 'data-signed-in': true }),
        ]
      },
    },
  }
}

/** A text font that is late would only be used from the next page on. */
function preloadFont(): Plugin {
  return {
    name: 'preload-font',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {} }) {
        const href = `/${Object.keys(bundle).find(name => name.includes('inter-latin-wght'))}`
        const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: true, href }
        return [{ tag: 'link', attrs, injectTo: 'head' }]
      },
    },
  }
}

/**
 * Most functions of these files run before the first page is visible. Chromium compiles them in the background while the files
 * arrive, instead of each when it is called. Other browsers ignore the comment, which has to be the first line.
 */
function compileEarly(): Plugin {
  const names = ['first', 'start', 'app', 'list']
  return {
    name: 'compile-early',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type === 'chunk' && names.includes(file.name))
            file.code = `//# allFunctionsCalledOnLoad\n${file.code}`
        }
      },
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
    write: false,
  })
  const code = Buffer.from(outputFiles[0]!.contents).toString('base64')
  return import(`data:text/javascript;base64,${code}`)
}
