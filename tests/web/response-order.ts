import type { Page } from 'playwright-core'

/** Picks the waiting request that is answered next. As text: it runs in the browser. */
export type ResponseOrder = string

/** The user, projects and organizations: every page requests them. */
const isSessionRequest = '({ path }) => /^\\/api\\/(users\\/@me|projects|organizations)\\/$/.test(path)'
const sessionFirst = (rest: string): ResponseOrder =>
  `waiting => { const index = waiting.findIndex(${isSessionRequest}); return index < 0 ? ${rest} : index }`

export const responseOrders = {
  /** In the order of the requests. */
  firstInFirstOut: sessionFirst('0'),
  /** The latest request first. */
  lastInFirstOut: sessionFirst('waiting.length - 1'),
  /** The page has all its data before the session is known. */
  sessionLast: `waiting => {
    const index = waiting.findIndex(request => !(${isSessionRequest})(request))
    return index < 0 ? waiting.length - 1 : index
  }`,
} satisfies Record<string, ResponseOrder>

/**
 * Delivers responses one at a time in the given order and renders each before the next, so that a layout shift caused by
 * the order of responses happens every time. Returns a function that waits until no request is pending.
 *
 * It replaces `fetch` in the page: intercepting requests would disable the HTTP cache and load every script again.
 */
export async function respondInOrder(page: Page, order: ResponseOrder): Promise<() => Promise<void>> {
  await page.addInitScript(`{
    const pick = ${order}
    const send = window.fetch
    const waiting = []
    const paint = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
    const respondToAll = async () => {
      await paint()
      while (waiting.length > 0) {
        const [{ respond }] = waiting.splice(pick(waiting), 1)
        await respond()
        await paint()
      }
      window.responding = undefined
    }
    window.fetch = (address, options) => {
      const path = new URL(address, location.href).pathname
      if (!path.startsWith('/api/')) return send(address, options)
      return new Promise((resolve, reject) => {
        const respond = async () => {
          try {
            const response = await send(address, options)
            // The body belongs to the response: the page gets both at once.
            await response.clone().arrayBuffer()
            resolve(response)
          } catch (error) {
            reject(error)
          }
        }
        waiting.push({ path, respond })
        window.responding ??= respondToAll()
      })
    }
  }`)
  return async () => {
    await page.evaluate(`(async () => {
      const paint = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
      await paint()
      while (window.responding) await window.responding
    })()`)
  }
}
