import { routes } from '@halyard/contract'
import { createCall } from '../api/client.ts'
import type { Session } from '../api/session.ts'
import { signInPath } from './sign-in-path.ts'

const pattern = /^\/login\/sso\/([\w-]{1,64})\/?$/

/**
 * Whether the provider has sent the browser back here. Then signs in and opens the page that was requested; returns the problem if that
 * fails. The code leaves the address bar and the history at once.
 */
export async function finishSingleSignOn(session: Session): Promise<unknown> {
  const providerId = pattern.exec(window.location.pathname)?.[1]
  if (providerId === undefined) return undefined
  const parameters = window.location.search.slice(1)
  window.history.replaceState(null, '', signInPath)
  try {
    const params = { provider_id: providerId }
    const body = { parameters: parameters || 'none' }
    const { api_key, expires_at, next } = await createCall(session)(routes.singleSignOn.finish, { params, body })
    window.history.replaceState(null, '', next)
    session.begin({ key: api_key, expiresAt: expires_at })
    return undefined
  } catch (problem) {
    return problem
  }
}
