import { routes } from '@halyard/contract'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import type { Instant } from '../../../instant.ts'
import { forbidden, missing, Problem } from '../../../problem.ts'
import type { Database } from '../../../stores.ts'
import { announceIdentity } from '../announce-identity.ts'
import { sessionToWire } from '../api-key-resource.ts'
import { resumeSession } from './open-session.ts'
import { clearedCookie, readRefreshCookie, requireSameOrigin } from './sign-in-cookie.ts'

interface Deps {
  readonly database: Database
  readonly now: () => Instant
}

/** Continues, lists and revokes sign-ins. */
export function serveSignIns(serve: ServeRoute, { database, now }: Deps): void {
  serve(routes.session.resume, async ({ headers, url }) => {
    requireSameOrigin(headers, url)
    const token = readRefreshCookie(headers)
    const session = token && (await database.transaction(tx => resumeSession(tx, token, now())))
    if (!session) throw new Problem('unauthenticated', 'This browser has no sign-in to resume. Sign in again.')
    return sessionToWire(session)
  })

  serve(routes.session.logout, async ({ actor, url }) => {
    const { key, user } = actor
    if (!key.isSession) {
      throw forbidden('This key is not a sign-in. Revoke it at /api/personal_api_keys/.')
    }
    await database.transaction(async tx => {
      if (key.signInId) await tx.signIns.remove(user.id, key.signInId)
      else await tx.identity.removeKey(user.id, key.id)
      await announceIdentity(tx, user.id, now())
    })
    return answer({ status: 204, headers: { 'set-cookie': clearedCookie(url) } })
  })

  serve(routes.session.listSignIns, async ({ actor }) => {
    const found = await database.query(tx => tx.signIns.list(actor.user.id, now()))
    return found.map(signIn => ({
      id: signIn.id,
      method: signIn.method,
      user_agent: signIn.userAgent,
      address: signIn.address,
      created_at: signIn.createdAt,
      last_used_at: signIn.lastUsedAt,
      expires_at: signIn.expiresAt,
      is_remembered: signIn.refreshHash !== null,
      is_current: signIn.id === actor.key.signInId,
    }))
  })

  serve(routes.session.revokeSignIn, async ({ actor, params }) => {
    await database.transaction(async tx => {
      if (!(await tx.signIns.remove(actor.user.id, params.sign_in_id))) throw missing('Sign-in')
      await announceIdentity(tx, actor.user.id, now())
    })
    return answer({ status: 204 })
  })
}
