import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { ownerKey } from '../../tests/faults/server-process.ts'
import { countLoaded } from '../../tests/web/count-loaded.ts'
import { launch } from '../../tests/web/launch-browser.ts'
import { type Figure, median, spreadOf } from '../measure.ts'
import { addFlags, populate } from '../populate.ts'
import type { Row } from '../row.ts'

const kilobyte = 1000

/** What the dashboard loads in Chromium with an empty cache, and when the first rows of a long list are visible. */
export const browser: Row = async ({ size, installations }) => {
  const { databaseUrl, projectId } = await installations.copy(10)
  populate(databaseUrl, handle => addFlags(handle, projectId, size.listedFlags - 10))
  const server = await installations.open(databaseUrl)
  const listPath = `/api/projects/${projectId}/feature_flags/`
  const { results } = (await server.request('GET', `${listPath}?limit=1`)) as { results: { id: number }[] }
  const chromium = await launch()
  const flags = `${server.url}/project/${projectId}/flags`
  const rounds: Visit[] = []
  const staticRounds: Visit[] = []
  const staticPage = await serveStaticPage()
  try {
    // The first visit warms the browser and the server.
    for (let round = -1; round < size.rounds; round++) {
      const list = await visit(chromium, flags, row)
      const bare = await visit(chromium, staticPage.url, row)
      if (round >= 0) {
        rounds.push(list)
        staticRounds.push(bare)
      }
    }
    const list = rounds.at(-1)!
    const flag = await visit(chromium, `${flags}/${results[0]!.id}`, '[role=tabpanel] h2')
    const signIn = await visit(chromium, `${server.url}/login`, 'input[type=password]', { isSignedIn: false })
    const name = `list of ${size.listedFlags.toLocaleString('en')} flags`
    const firstRows = rounds.map(({ shownAfter }) => shownAfter)
    const staticRows = staticRounds.map(({ shownAfter }) => shownAfter)
    return [
      {
        measure: `${name}: first rows visible`,
        value: median(firstRows),
        spread: spreadOf(firstRows),
        unit: 'ms',
        atMost: 400,
      },
      {
        measure: 'a static page with one row and one script, for comparison: row visible',
        value: median(staticRows),
        spread: spreadOf(staticRows),
        unit: 'ms',
      },
      { ...kilobytes(`${name}: everything on the wire`, list.bytes), atMost: 445 },
      kilobytes(`${name}: API responses`, list.apiBytes),
      { ...kilobytes('one flag: everything on the wire', flag.bytes), atMost: 690 },
      kilobytes('one flag: API responses', flag.apiBytes),
      kilobytes('sign-in: scripts', signIn.scriptBytes),
    ]
  } finally {
    await chromium.close()
    staticPage.server.close()
    await server.stop()
  }
}

const row = '[role=row] a[href*="/flags/"]'

/** What this browser on this machine needs at least: one script, which inserts one row. */
async function serveStaticPage(): Promise<{ readonly server: Server; readonly url: string }> {
  const page = '<!doctype html><title>Row</title><script type="module" src="/row.js"></script><main></main>'
  const script = `document.querySelector('main').innerHTML = '<div role="row"><a href="/flags/1">Flag</a></div>'`
  const server = createServer((request, response) => {
    const isScript = request.url === '/row.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html').end(isScript ? script : page)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const kilobytes = (measure: string, bytes: number): Figure => ({ measure, value: bytes / kilobyte, unit: 'KB' })

interface Visit {
  /** Milliseconds from the start of the navigation. */
  readonly shownAfter: number
  readonly bytes: number
  readonly apiBytes: number
  readonly scriptBytes: number
}

/** Opens a page in a new profile, and waits for the content and then for everything that it loads. */
async function visit(
  chromium: Browser,
  url: string,
  content: string,
  { isSignedIn } = { isSignedIn: true },
): Promise<Visit> {
  const context = await chromium.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  if (isSignedIn) await page.addInitScript(storeSession)
  await page.addInitScript(recordFirst(content))
  const loaded = countLoaded(page)
  await page.goto(url)
  await page.locator(content).first().waitFor()
  await everythingLoaded(page)
  const shownAfter = await page.evaluate<number>('window.shownAfter')
  const [apiBytes, scriptBytes, ...rest] = await Promise.all(
    ['fetch', 'script', 'document', 'stylesheet', 'font', 'image', 'other'].map(type => loaded.bytes(type)),
  )
  const figures = { shownAfter, apiBytes: apiBytes!, scriptBytes: scriptBytes! }
  await context.close()
  return { ...figures, bytes: [apiBytes!, scriptBytes!, ...rest].reduce((sum, each) => sum + each, 0) }
}

const storeSession = `sessionStorage.setItem('halyard.session', ${JSON.stringify(
  JSON.stringify({ key: ownerKey, expiresAt: '2100-01-01T00:00:00Z' }),
)})`

/** Also counts what is loaded once the page is idle. The stream of changes stays open, so there is no idle network. */
const quietMilliseconds = 1500
const everythingLoaded = (page: Page): Promise<void> => page.waitForTimeout(quietMilliseconds)

/** Records when the content was first in the document and painted. */
const recordFirst = (content: string): string => `new MutationObserver((_, observer) => {
  if (!document.querySelector(${JSON.stringify(content)})) return
  observer.disconnect()
  requestAnimationFrame(() => requestAnimationFrame(() => { window.shownAfter = performance.now() }))
}).observe(document, { childList: true, subtree: true })`
