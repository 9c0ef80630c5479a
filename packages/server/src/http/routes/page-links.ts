import type { PageOf, Window } from '../../pagination.ts'

export const pageSizeDefault = 100
export const pageSizeMax = 1000

/** Lenient, as PostHog: what is no sensible number is the default. */
export function readWindow(query: { limit?: string; offset?: string }, defaultLimit = pageSizeDefault): Window {
  const limit = wholeNumber(query.limit)
  return {
    limit: limit === undefined || limit === 0 ? defaultLimit : Math.min(limit, pageSizeMax),
    offset: Math.min(wholeNumber(query.offset) ?? 0, Number.MAX_SAFE_INTEGER),
  }
}

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\+?\d+\s*$/.test(text) ? Number(text) : undefined

export interface PageBody<T> {
  count: number
  next: string | null
  previous: string | null
  results: T[]
}

/** The envelope, with absolute links that keep all other parameters, sorted by name. */
export function pageBody<I, T>(page: PageOf<I>, window: Window, url: URL, toWire: (item: I) => T): PageBody<T> {
  const { count } = page
  const { limit, offset } = window
  return {
    count,
    next: offset + limit < count ? linkTo(url, { limit, offset: offset + limit }) : null,
    previous: offset > 0 ? linkTo(url, { limit, offset: offset - limit }) : null,
    results: page.items.map(toWire),
  }
}

/** The links alone, for a list whose length is not known. */
export const neighborLinks = ({ limit, offset }: Window, url: URL, hasMore: boolean) => ({
  next: hasMore ? linkTo(url, { limit, offset: offset + limit }) : null,
  previous: offset > 0 ? linkTo(url, { limit, offset: offset - limit }) : null,
})

function linkTo(url: URL, { limit, offset }: Window): string {
  const link = new URL(url)
  link.searchParams.set('limit', String(limit))
  if (offset > 0) link.searchParams.set('offset', String(offset))
  else link.searchParams.delete('offset')
  link.searchParams.sort()
  return link.href
}

/** Activity can be paged by `page` or by `offset`; the links use the caller's parameter. */
export function readActivityWindow(query: { limit?: string; offset?: string; page?: string }): Window {
  const { limit, offset } = readWindow(query, activityPageSizeDefault)
  const page = wholeNumber(query.page)
  return page === undefined || query.offset !== undefined
    ? { limit, offset }
    : { limit, offset: Math.min(Math.max(page - 1, 0) * limit, Number.MAX_SAFE_INTEGER) }
}

export function activityBody<I, T>(page: PageOf<I>, window: Window, url: URL, toWire: (item: I) => T) {
  const byOffset = pageBody(page, window, url, toWire)
  const isByPage = !url.searchParams.has('offset')
  const current = Math.floor(window.offset / window.limit) + 1
  const links = isByPage
    ? {
        next: byOffset.next && pageLink(url, current + 1, window.limit),
        previous: byOffset.previous && pageLink(url, current - 1, window.limit),
      }
    : { next: byOffset.next, previous: byOffset.previous }
  return { results: byOffset.results, count: page.count, total_count: page.count, ...links }
}

const activityPageSizeDefault = 10

function pageLink(url: URL, page: number, limit: number): string {
  const link = new URL(url)
  link.searchParams.set('page', String(page))
  link.searchParams.set('limit', String(limit))
  return link.href
}
