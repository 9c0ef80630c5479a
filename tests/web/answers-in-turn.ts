import type { Page, Route } from 'playwright-core'

/** Which of those that wait is answered next. */
export type Turn = (waiting: readonly Route[]) => number

/** Who is here, in which projects, and with which rights: every page asks for it. */
const isBearing = (route: Route): boolean =>
  /^\/api\/(users\/@me|projects|organizations)\/$/.test(new URL(route.request().url()).pathname)

const orLast = (index: number, waiting: readonly Route[]): number => (index < 0 ? waiting.length - 1 : index)
const firstAsked: Turn = () => 0
const lastAsked: Turn = waiting => waiting.length - 1

export const bearingsFirst =
  (rest: Turn): Turn =>
  waiting => {
    const bearing = waiting.findIndex(isBearing)
    return bearing < 0 ? rest(waiting) : bearing
  }

export const turns = {
  /** Each answer in the order in which the page has asked. */
  asAsked: bearingsFirst(firstAsked),
  /** What the page has asked for last is answered before the rest of it. */
  backwards: bearingsFirst(lastAsked),
  /** The page has everything that it needs before it is known who looks at it. */
  bearingsLast: (waiting: readonly Route[]) =>
    orLast(
      waiting.findIndex(route => !isBearing(route)),
      waiting,
    ),
}

/**
 * From now on the answers of the server come one at a time, in this order, and each is drawn before the next one comes: what the order of the answers can
 * move, moves every time. Answers how to wait until the page has all that it has asked for.
 */
export async function answerInTurn(page: Page, turn: Turn): Promise<() => Promise<void>> {
  const waiting: Route[] = []
  let work: Promise<void> | undefined
  const answerAll = async () => {
    await draw(page)
    while (waiting.length > 0) {
      const [route] = waiting.splice(turn(waiting), 1)
      if (route) await answer(route)
      await draw(page)
    }
    work = undefined
  }
  await page.route(
    ({ pathname }) => pathname.startsWith('/api/'),
    route => {
      waiting.push(route)
      work ??= answerAll()
    },
  )
  return async () => {
    await draw(page)
    while (work) await work
  }
}

/** Fetched on behalf of the page: a request that the page has given up meanwhile is never answered to it, and would be waited for in vain. */
async function answer(route: Route): Promise<void> {
  try {
    await route.fulfill({ response: await route.fetch() })
  } catch {
    // The page has been left meanwhile, or no longer wants to know.
  }
}

/** Two frames: the first draws what is known, the second begins when that is done. */
async function draw(page: Page): Promise<void> {
  await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))').catch(() => {})
}
