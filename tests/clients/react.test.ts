import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { evaluateFlags } from '@halyard/openfeature-web'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Program, startProgram } from '../program/start-program.ts'
import { launch } from '../web/launch-browser.ts'

/** The same components on a server and in a browser. */
const components = `
  import { createElement as h, Suspense, StrictMode, useEffect, useState } from 'react'
  import { HalyardFlags, useFlag, useFlagDetails, useSuspenseFlag } from '@halyard/react'
  function Checkout() {
    const isNew = useFlag('new-checkout', false)
    const size = useFlag('page-size', 10)
    const { reason } = useFlagDetails('new-checkout', false)
    return h('main', null, h('h1', null, (isNew ? 'New' : 'Old') + ' checkout'), h('p', { 'data-reason': reason }, String(size)))
  }
  const Late = () => h('h2', null, useSuspenseFlag('color', 'none'))
  function Application({ page }) {
    const [plan, setPlan] = useState('free')
    const [isMounted, setMounted] = useState(false)
    useEffect(() => setMounted(true), [])
    const { initial, ...options } = page
    const context = { targetingKey: 'user-1', plan }
    return h(StrictMode, null,
      h(HalyardFlags, { ...options, initial, context }, h(Checkout), h('button', { onClick: () => setPlan('pro') }, 'Upgrade')),
      isMounted && h(HalyardFlags, { ...options, context: { targetingKey: 'user-2' } }, h(Suspense, { fallback: h('h2', null, 'Loading') }, h(Late))))
  }
`
const application = `${components}
  import { hydrateRoot } from 'react-dom/client'
  const page = JSON.parse(document.getElementById('page').textContent)
  hydrateRoot(document.getElementById('root'), h(Application, { page }), { onRecoverableError: error => console.error(error) })
`
const renderer = `${components}
  import { renderToString } from 'react-dom/server'
  export const render = page => renderToString(h(Application, { page }))
  const Flag = () => h('p', null, String(useFlag('new-checkout', false)))
  const options = { url: 'http://127.0.0.1:9', token: 'phc_none', context: { targetingKey: 'u' } }
  export const renderOffline = () => renderToString(h(HalyardFlags, options, h(Flag)))
`

interface Renderer {
  render(page: object): string
  renderOffline(): string
}

let rendering: Renderer
let s: Program
let browser: Browser
let site: Server
let flags: string
const ids: Record<string, number> = {}

const bundle = async (contents: string, platform: 'browser' | 'node') => {
  const built = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: platform === 'node' ? 'cjs' : 'iife',
    platform,
    jsx: 'automatic',
    conditions: ['halyard-source'],
    define: { 'process.env.NODE_ENV': '"development"' },
  })
  return built.outputFiles[0]!.text
}

beforeAll(async () => {
  const [script, server] = await Promise.all([bundle(application, 'browser'), bundle(renderer, 'node')])
  const module = { exports: {} as Renderer }
  new Function('module', 'exports', 'require', server)(module, module.exports, require)
  rendering = module.exports
  ;[s, browser] = await Promise.all([startProgram('sqlite'), launch()])
  flags = `${s.project}/feature_flags/`
  const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
  for (const flag of [
    { key: 'new-checkout' },
    { key: 'page-size', filters: { groups: [{ properties: pro }], return_type: 'number', payloads: { true: 25 } } },
    { key: 'color', filters: { groups: [{}], multivariate: { variants: [{ key: 'red', rollout_percentage: 100 }] } } },
  ]) {
    ids[flag.key] = (await s.post(flags, flag)).body.id
  }
  site = createServer(async (request, response) => {
    if (request.url === '/app.js') return response.setHeader('content-type', 'text/javascript').end(script)
    const options = { url: s.url, token: s.projectToken }
    const initial = await evaluateFlags({ ...options, context: { targetingKey: 'user-1', plan: 'free' } })
    const page = { ...options, initial }
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><title>Shop</title><link rel="icon" href="data:,">
<div id="root">${rendering.render(page)}</div>
<script type="application/json" id="page">${JSON.stringify(page)}</script><script src="/app.js"></script>`)
  })
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await browser.close()
  site.close()
  site.closeAllConnections()
  await s.close()
})

it('renders on the server without a network or a snapshot, with the defaults', () => {
  expect(rendering.renderOffline()).toBe('<p>false</p>')
})

it('hydrates what the server rendered without a difference, then follows changes and contexts', async () => {
  const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
  const html = await (await fetch(address)).text()
  expect(html).toContain('<h1>New checkout</h1>')
  expect(html).toContain('>10</p>')
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    // OpenFeature's SDK suspends in a way that React reports in development.
    const isOfSdk = message.text().includes('This library called use() to suspend')
    if (['error', 'warning'].includes(message.type()) && !isOfSdk) complaints.push(message.text())
  })
  await page.goto(address)
  await page.getByRole('heading', { name: 'New checkout' }).waitFor()
  // Waits in its boundary until the values have arrived.
  await page.getByRole('heading', { name: 'red' }).waitFor()
  await s.patch(`${flags}${ids['new-checkout']}/`, { active: false })
  await page.getByRole('heading', { name: 'Old checkout' }).waitFor()
  await page.getByRole('button', { name: 'Upgrade' }).click()
  await page.getByText('25', { exact: true }).waitFor()
  expect(complaints).toEqual([])
  await page.close()
})
