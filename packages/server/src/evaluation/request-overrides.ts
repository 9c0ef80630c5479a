import { overridesHeader } from '../http/server/response-headers.ts'
import { InvalidatedCache } from '../storage/changes/invalidated-cache.ts'
import { withOverrides } from './projects/flag-override.ts'
import type { ServedProject } from './projects/served-project.ts'
import type { ReadOverrides } from './projects/signed-overrides.ts'
import type { Headers } from './request-runtime.ts'

/** What became of the overrides of a request. Those that are refused are ignored: an old link must not break a page. */
export type OverridesStatus = 'applied' | 'expired' | 'invalid' | 'unsupported'

export interface Overridden {
  readonly served: ServedProject
  /** Undefined when the request has no overrides. */
  readonly overrides: OverridesStatus | undefined
}

/** Values that a page asks for, in a header that someone with access has signed. */
export interface RequestOverrides {
  apply(served: ServedProject, headers: Headers): Overridden
}

/** Per version of a project: few developers work at the same time, each with one token. */
const projectsMax = 20

/** Without a reader, as on edges, no overrides are supported. */
export function createRequestOverrides(read?: ReadOverrides, now: () => number = Date.now): RequestOverrides {
  const overridden = new WeakMap<ServedProject, InvalidatedCache<ServedProject>>()

  function projectWith(served: ServedProject, token: string, make: () => ServedProject): ServedProject {
    const cache = overridden.get(served) ?? new InvalidatedCache<ServedProject>({ sizeMax: projectsMax })
    overridden.set(served, cache)
    const made = cache.peek(token) ?? make()
    cache.set(token, made)
    return made
  }

  return {
    apply(served, headers) {
      const token = headers[overridesHeader]
      if (token === undefined) return { served, overrides: undefined }
      if (!read) return { served, overrides: 'unsupported' }
      const signed = typeof token === 'string' ? read(served.project, token) : 'invalid'
      if (signed === 'invalid') return { served, overrides: 'invalid' }
      if (signed.expiresAt <= now()) return { served, overrides: 'expired' }
      const made = projectWith(served, token as string, () => withOverrides(served, signed.overrides))
      return { served: made, overrides: 'applied' }
    },
  }
}

/** Browsers hide other headers of a response from the page. */
export const exposedHeaders = `ETag, Retry-After, ${overridesHeader}`

export const overridesHeaders = (status: OverridesStatus | undefined): Readonly<Record<string, string>> =>
  status === undefined ? {} : { [overridesHeader]: status, 'access-control-expose-headers': exposedHeaders }
