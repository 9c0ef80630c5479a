import type { Page, Request } from 'playwright-core'

/** Counts what a page loads, as it is on the wire. */
export function countLoaded(page: Page) {
  const requests: Request[] = []
  page.on('requestfinished', request => requests.push(request))
  const of = (type: string) => requests.filter(request => request.resourceType() === type)
  return {
    bytes: async (type: string) => {
      const sizes = await Promise.all(of(type).map(request => request.sizes()))
      return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
    },
  }
}
