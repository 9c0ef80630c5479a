// Builds the docs site from docs/**/*.md into the server's dist folder. Assumes that everything is installed.
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { compressFiles } from '../compress-files.mjs'
import { root } from '../prepare.mjs'
import { dist } from '../server-bundle.mjs'
import { addressOf, renderPage, searchSections } from './markdown.mjs'
import { navigation } from './navigation.mjs'
import { pageHtml } from './template.mjs'

const docs = join(root, 'docs')
const browser = join(root, 'scripts/docs-site/browser')

export async function buildDocs(out = join(dist, 'docs')) {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(join(out, 'assets'), { recursive: true })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const sources = new Map(
    readdirSync(docs, { recursive: true, withFileTypes: true })
      .filter(({ name }) => extname(name) === '.md')
      .map(entry => relative(docs, join(entry.parentPath, entry.name)).split(sep).join('/').slice(0, -'.md'.length))
      .map(path => [path, readFileSync(join(docs, `${path}.md`), 'utf8')]),
  )
  const sections = navigation([...sources.keys()].sort())
  const order = sections.flatMap(({ pages }) => pages)

  const rendered = new Map(order.map(path => [path, renderPage(path, sources.get(path))]))
  const pages = sections.map(({ title, pages }) => ({ title, pages: pages.map(path => rendered.get(path)) }))
  const assets = await writeAssets(
    out,
    order.flatMap(path => searchSections(path, sources.get(path))),
  )
  const write = (file, page) => {
    mkdirSync(dirname(join(out, file)), { recursive: true })
    writeFileSync(join(out, file), pageHtml({ page, pages, assets, version }))
  }
  for (const page of rendered.values()) write(`${addressOf(page.path).slice('/docs/'.length)}index.html`, page)
  write('404.html', renderPage('404', notFound))
  writeFileSync(join(out, 'pages.json'), JSON.stringify(order.map(path => listed(rendered.get(path)))))
  cpSync(join(docs, 'images'), join(out, 'images'), { recursive: true })
  compressFiles(out)
}

/** For the command palette of the dashboard. */
const listed = ({ path, title }) => ({ url: addressOf(path), title })

const notFound = `# Page not found

There is no page at this address. Search above, or start at the [home page](index.md).
`

/** Names contain a hash of the content, so that browsers can cache them forever. */
async function writeAssets(out, sections) {
  const bundle = async (name, options) => {
    const { outputFiles } = await build({
      entryPoints: [join(browser, name)],
      bundle: true,
      minify: true,
      write: false,
      target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
      ...options,
    })
    return outputFiles
  }
  const bundled = async (name, options) => (await bundle(name, options))[0].contents
  const styleAndFonts = await bundle('site.css', {
    loader: { '.woff2': 'file' },
    outdir: out,
    assetNames: '[name]-[hash]',
    publicPath: '/docs/assets',
  })
  const fonts = styleAndFonts.filter(({ path }) => extname(path) === '.woff2')
  for (const { path, contents } of fonts) writeFileSync(join(out, 'assets', basename(path)), contents)
  const files = {
    theme: ['theme.js', await bundled('theme.js', { format: 'iife' })],
    site: ['site.js', await bundled('site.js', { format: 'esm' })],
    style: ['site.css', styleAndFonts.find(({ path }) => extname(path) === '.css').contents],
    search: ['search.json', Buffer.from(JSON.stringify(sections))],
  }
  const addresses = Object.entries(files).map(([key, [name, bytes]]) => {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8)
    const file = name.replace('.', `-${hash}.`)
    writeFileSync(join(out, 'assets', file), bytes)
    return [key, `/docs/assets/${file}`]
  })
  const textFont = basename(fonts.find(({ path }) => path.includes('inter-latin-wght')).path)
  return { ...Object.fromEntries(addresses), textFont: `/docs/assets/${textFont}` }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildDocs()
