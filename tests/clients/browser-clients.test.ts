import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { launch } from '../web/launch-browser.ts'

/** The libraries as an application would bundle them, on a site of another origin. */
const application = `
  import posthog from 'posthog-js'
  import { OpenFeature } from '@openfeature/web-sdk'
  import { OFREPWebProvider } from '@openfeature/ofrep-web-provider'
  Object.assign(window, { posthog, OpenFeature, OFREPWebProvider })
`

let s: Scenario
let browser: Browser
let site: Server
let flags: string
const ids: Record<string, number> = {}

beforeAll(async () => {
  const bundle = await build({
    stdin: { contents: application, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
  })
  const script = bundle.outputFiles[0]!.text
  site = createServer((request, response) => {
    const isScript = request.url === '/app.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    const application = request.url === '/empty' ? '' : '<script src="/app.js"></script>'
    response.end(isScript ? script : `<!doctype html><title>Application</title>${application}`)
  })
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve))
  ;[s, browser] = await Promise.all([startScenario('sqlite'), launch()])
  flags = `${s.project}/feature_flags/`
  const variants = [
    { key: 'control', rollout_percentage: 0 },
    { key: 'test', rollout_percentage: 100 },
  ]
  const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
  const create = async (flag: { key: string; [field: string]: unknown }) => {
    ids[flag.key] = (await s.post(flags, flag)).body.id
  }
  await create({ key: 'on', filters: { groups: [{}], payloads: { true: '{"a":1}' } } })
  await create({ key: 'variant', filters: { groups: [{}], multivariate: { variants } } })
  await create({ key: 'pro', filters: { groups: [{ properties: pro }] } })
  await create({ key: 'server-only', evaluation_runtime: 'server' })
})
afterAll(async () => {
  await browser.close()
  site.close()
  site.closeAllConnections()
  await s.close()
})

async function open(path = '/'): Promise<{ page: Page; complaints: string[]; requests: string[] }> {
  const page = await (await browser.newContext({ locale: 'en-US' })).newPage()
  const complaints: string[] = []
  const requests: string[] = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('response', response => {
    const path = new URL(response.url()).pathname
    if (path.includes('favicon')) return
    requests.push(path)
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
  })
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`)
  return { page, complaints, requests }
}

it('posthog-js loads flags, payloads and its configuration, identifies and sends events', async () => {
  const { page, complaints, requests } = await open()
  await page.evaluate(`new Promise(resolve => {
    posthog.init(${JSON.stringify(s.projectToken)}, {
      api_host: ${JSON.stringify(s.url)}, opt_out_useragent_filter: true, request_batching: false, persistence: 'memory',
    })
    posthog.onFeatureFlags(resolve)
  })`)
  expect(await page.evaluate(`posthog.getFeatureFlag('variant')`)).toBe('test')
  expect(await page.evaluate(`posthog.isFeatureEnabled('on')`)).toBe(true)
  expect(await page.evaluate(`posthog.getFeatureFlagResult('on')?.payload`)).toEqual({ a: 1 })
  expect(await page.evaluate(`posthog.isFeatureEnabled('pro')`)).toBe(false)
  expect(await page.evaluate(`posthog.getFeatureFlag('server-only')`)).toBeUndefined()
  await page.evaluate(`posthog.identify('user', { plan: 'pro' })`)
  await page.waitForFunction(`posthog.isFeatureEnabled('pro') === true`)
  // The event has stored the properties, which now apply to requests of any client.
  const stored = async () =>
    (await s.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id: 'user' })).body.flags.pro.enabled
  await expect.poll(stored, { timeout: 15_000 }).toBe(true)
  expect(requests).toContain(`/array/${s.projectToken}/config.js`)
  expect(requests).toContain('/flags/')
  expect(complaints).toEqual([])
})

it('an HTML snippet loads posthog-js from the API host, and nothing else that is not served', async () => {
  const { page, complaints, requests } = await open('/empty')
  // As PostHog's snippet does it: calls are queued on an array until the script has replaced it.
  await page.evaluate(`{
    const options = { api_host: ${JSON.stringify(s.url)}, opt_out_useragent_filter: true, persistence: 'memory' }
    window.posthog = Object.assign([], { __SV: 1, _i: [[${JSON.stringify(s.projectToken)}, options, 'posthog']] })
    const script = document.createElement('script')
    Object.assign(script, { crossOrigin: 'anonymous', async: true, src: options.api_host + '/static/array.js' })
    document.head.append(script)
  }`)
  await page.waitForFunction(`window.posthog.isFeatureEnabled?.('on') === true`)
  expect(await page.evaluate(`posthog.getFeatureFlag('variant')`)).toBe('test')
  expect(requests).toContain('/static/array.js')
  expect(requests.filter(path => path.startsWith('/static/'))).toEqual(['/static/array.js'])
  expect(complaints).toEqual([])
})

it('the OpenFeature web SDK evaluates with the unmodified OFREP provider and receives changes', async () => {
  const { page, complaints } = await open()
  await page.evaluate(`(async () => {
    await OpenFeature.setContext({ targetingKey: 'u', plan: 'free' })
    await OpenFeature.setProviderAndWait(new OFREPWebProvider({
      baseUrl: ${JSON.stringify(s.url)}, headers: [['Authorization', 'Bearer ${s.projectToken}']],
    }))
    window.client = OpenFeature.getClient()
  })()`)
  const value = (expression: string) => page.evaluate(`client.${expression}`)
  expect(await value(`getStringValue('variant', 'none')`)).toBe('test')
  expect(await value(`getBooleanValue('pro', true)`)).toBe(false)
  expect(await value(`getBooleanDetails('server-only', true).errorCode`)).toBe('FLAG_NOT_FOUND')
  await page.evaluate(`OpenFeature.setContext({ targetingKey: 'u', plan: 'pro' })`)
  // The provider first returns cached values and refreshes them in the background.
  await page.waitForFunction(`client.getBooleanValue('pro', false) === true`)
  await expect.poll(() => s.halyard.serving.streams.size, { timeout: 15_000 }).toBe(1)
  await s.patch(`${flags}${ids.on}/`, { active: false })
  await page.waitForFunction(`client.getBooleanDetails('on', true).reason === 'DISABLED'`)
  await s.patch(`${flags}${ids.on}/`, { active: true })
  await page.waitForFunction(`client.getBooleanValue('on', false) === true`)
  expect(complaints).toEqual([])
})
