import type { Page, Route } from 'playwright-core'

/** Picks the waiting request that is answered next. */
export type ResponseOrder = (waiting: readonly Route[]) => number

/** The user, projects and organizations: every page requests them. */
const isSessionRequest = (route: Route): boolean =>
  /^\/api\/(users\/@me|projects|organizations)\/$/.test(new URL(route.request().url()).pathname)

const orLast = (index: number, waiting: readonly Route[]): number => (index < 0 ? waiting.length - 1 : index)
const firstRequested: ResponseOrder = () => 0
const lastRequested: ResponseOrder = waiting => waiting.length - 1

const sessionFirst =
  (rest: ResponseOrder): ResponseOrder =>
  waiting => {
    const session = waiting.findIndex(isSessionRequest)
    return session < 0 ? rest(waiting) : session
  }

export const responseOrders = {
  /** In the order of the requests. */
  firstInFirstOut: sessionFirst(firstRequested),
  /** The latest request first. */
  lastInFirstOut: sessionFirst(lastRequested),
  /** The page has all its data before the session is known. */
  sessionLast: (waiting: readonly Route[]) =>
    orLast(
      waiting.findIndex(route => !isSessionRequest(route)),
      waiting,
    ),
}

/**
 * Delivers responses one at a time in the given order and renders each before the next, so that a layout shift caused by
 * the order of responses happens every time. Returns a function that waits until no request is pending.
 */
export async function respondInOrder(page: Page, order: ResponseOrder): Promise<() => Promise<void>> {
  const waiting: Route[] = []
  let work: Promise<void> | undefined
  const respondToAll = async () => {
    await paint(page)
    while (waiting.length > 0) {
      const [route] = waiting.splice(order(waiting), 1)
      if (route) await respond(route)
      await paint(page)
    }
    work = undefined
  }
  await page.route(
    ({ pathname }) => pathname.startsWith('/api/'),
    route => {
      waiting.push(route)
      work ??= respondToAll()
    },
  )
  return async () => {
    await paint(page)
    while (work) await work
  }
}

/** Fetches on behalf of the page: the response to a request that the page has aborted never arrives. */
async function respond(route: Route): Promise<void> {
  try {
    await route.fulfill({ response: await route.fetch() })
  } catch {
    // The page was left, or has aborted the request.
  }
}

/** Waits two animation frames, so that the current state is painted. */
async function paint(page: Page): Promise<void> {
  await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))').catch(() => {})
}
