import type { CDPSession, Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { suiteVisit } from './browser.ts'

const visit = suiteVisit()
beforeAll(async () => {
  const { scenario } = visit
  for (const key of ['a', 'b', 'c']) await scenario.post(`${scenario.project}/feature_flags/`, { key })
}, 120_000)

const rounds = { before: 5, measured: 50 }
/** Pages of one round: together 200 navigations. */
const pages = ['Cohorts', 'Activity', 'Flag health', 'Flags']
/** What caches, such as recently used pages, may add. */
const growthMax = 1.25

interface Retained {
  readonly nodes: number
  readonly listeners: number
}

async function measure(devtools: CDPSession): Promise<Retained> {
  for (let passes = 0; passes < 3; passes++) await devtools.send('HeapProfiler.collectGarbage')
  const { nodes, jsEventListeners } = await devtools.send('Memory.getDOMCounters')
  return { nodes, listeners: jsEventListeners }
}

async function navigate(page: Page, times: number): Promise<void> {
  const navigation = page.getByRole('navigation', { name: 'Main' })
  for (let round = 0; round < times; round++) {
    for (const name of pages) {
      await navigation.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
    }
  }
}

describe('the dashboard', { timeout: 300_000 }, () => {
  it('retains neither nodes nor listeners over 200 navigations', async () => {
    const page = await visit.signedIn(`/project/${visit.scenario.projectId}/flags`)
    const devtools = await page.context().newCDPSession(page)
    await navigate(page, rounds.before)
    const before = await measure(devtools)
    await navigate(page, rounds.measured)
    // What the last page still loads is released a moment later.
    const growth = async () => {
      const after = await measure(devtools)
      return Math.max(after.nodes / before.nodes, after.listeners / before.listeners)
    }
    await expect.poll(growth, { timeout: 60_000, interval: 500 }).toBeLessThan(growthMax)
  })

  it.each([
    { name: 'home', path: '' },
    { name: 'the list of flags', path: '/flags' },
    { name: 'a flag', path: '/flags/1' },
    { name: 'requests', path: '/requests' },
    { name: 'activity', path: '/activity' },
    { name: 'cohorts', path: '/cohorts' },
    { name: 'settings', path: '/settings' },
  ])('sends no request while $name is open', async ({ path }) => {
    const page = await visit.open()
    const requests: string[] = []
    const open = new Set<Request>()
    page.on('request', request => {
      requests.push(new URL(request.url()).pathname)
      open.add(request)
    })
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end as 'requestfinished', request => open.delete(request))
    await page.clock.install()
    await visit.signIn(page, `/project/${visit.scenario.projectId}${path}`)
    await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
    // A page is settled when nothing is under way for three seconds of its clock: neither a request nor what a chunk that
    // has just arrived still asks for. The stream does not end, and no end is reported of the script of the worker that
    // reads it.
    let quietSeconds = 0
    const settled = async () => {
      const count = requests.length
      await page.clock.runFor(1000)
      const isQuiet =
        requests.length === count && ![...open].some(request => !/changes\/stream|change-worker/.test(request.url()))
      quietSeconds = isQuiet ? quietSeconds + 1 : 0
      return quietSeconds >= 3
    }
    await expect.poll(settled).toBe(true)
    requests.length = 0
    // Numbers of evaluations, which are not pushed, are read again every 30 seconds.
    for (let second = 0; second < 15; second++) await page.clock.runFor(1000)
    expect(requests).toEqual([])
  })
})
