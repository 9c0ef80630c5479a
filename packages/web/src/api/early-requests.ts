/** Responses to requests that were sent before the app was loaded. */
export interface EarlyRequests {
  /** Whether the page of one flag is open. */
  readonly isFlag: boolean
  /** The response to a GET request, if it was sent early with this key. Each is used once. */
  take(url: string, key: string | undefined): Promise<Response> | undefined
}

interface Place {
  readonly pathname: string
  readonly search: string
}

/** A page that opens later requests current data. */
const usableMilliseconds = 10_000

/**
 * Requests what the page at this address shows first. The paths are written out: the table of all routes would make the
 * first file large. An address that is wrong here is only requested in vain.
 */
export function requestEarly(key: string | undefined, place: Place, send: typeof fetch = fetch): EarlyRequests {
  const sent = new Map<string, Promise<Response>>()
  const page = /^\/project\/(\d{1,15})\/flags(?:\/(\d{1,15}))?\/?$/.exec(place.pathname)
  const [, projectId, flagId] = page ?? []
  if (key !== undefined) {
    for (const url of [...ofEveryPage, ...urlsOf(projectId, flagId, place.search)]) {
      const response = send(url, { headers: { authorization: `Bearer ${key}` } })
      // The caller that takes it handles the failure.
      response.catch(() => {})
      sent.set(url, response)
    }
    setTimeout(() => sent.clear(), usableMilliseconds)
  }
  return {
    isFlag: flagId !== undefined,
    take(url, currentKey) {
      if (currentKey !== key) return undefined
      const response = sent.get(url)
      sent.delete(url)
      return response
    },
  }
}

const ofEveryPage = ['/api/users/@me/', '/api/projects/?limit=1000', '/api/organizations/?limit=1000']

function urlsOf(projectId: string | undefined, flagId: string | undefined, search: string): string[] {
  if (projectId === undefined) return []
  const flags = `/api/projects/${projectId}/feature_flags/`
  if (flagId !== undefined) return [`${flags}${flagId}/`]
  return search === '' ? [`${flags}summaries/?limit=100&offset=0`] : []
}
