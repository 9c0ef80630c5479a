import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { forbidden, missing, Problem } from '../../../problem.ts'
import { announceIdentity } from '../announce-identity.ts'
import { sessionToWire } from '../api-key-resource.ts'
import { resumeSession } from './open-session.ts'
import { recordSignIn } from './record-sign-in.ts'
import type { SignInProvider } from './sign-in.ts'
import { clearedCookie, readRefreshCookie, requireSameOrigin } from './sign-in-cookie.ts'

interface Deps extends RouteDeps {
  readonly providerLogout: ProviderLogout
}

/** Where the sign-in ends at its identity provider as well; undefined when it does not. */
export type ProviderLogout = (provider: SignInProvider, url: URL) => Promise<string | undefined>

/** Continues, lists and revokes sign-ins. */
export function serveSignIns(serve: ServeRoute, { database, now, providerLogout }: Deps): void {
  serve(routes.session.resume, async ({ headers, url, origin }) => {
    requireSameOrigin(headers, url)
    const token = readRefreshCookie(headers)
    const session = token && (await database.transaction(tx => resumeSession(tx, token, origin, now())))
    if (!session) throw new Problem('unauthenticated', 'This browser has no sign-in to resume. Sign in again.')
    return sessionToWire(session)
  })

  serve(routes.session.logout, async ({ actor, url }) => {
    const { key, user } = actor
    if (!key.isSession) {
      throw forbidden('This key is not a sign-in. Revoke it at /api/personal_api_keys/.')
    }
    const provider = await database.transaction(async tx => {
      const signIn = key.signInId ? await tx.signIns.find(user.id, key.signInId) : undefined
      if (key.signInId) await tx.signIns.remove(user.id, key.signInId)
      else await tx.identity.removeKey(user.id, key.id)
      await announceIdentity(tx, user.id, now())
      const { origin } = actor
      await recordSignIn(tx, user, { activity: 'signed_out', signInId: key.signInId ?? key.id, origin }, now())
      return signIn?.provider
    })
    const headers = { 'set-cookie': clearedCookie(url) }
    const address = provider && (await providerLogout(provider, url))
    return address
      ? answer({ status: 200, body: { redirect_url: address }, headers })
      : answer({ status: 204, headers })
  })

  serve(routes.session.listSignIns, async ({ actor }) => {
    const signIns = await database.query(tx => tx.signIns.list(actor.user.id, now()))
    return signIns.map(signIn => ({
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
      const { user, origin } = actor
      await recordSignIn(tx, user, { activity: 'signed_out', signInId: params.sign_in_id, origin }, now())
    })
    return answer({ status: 204 })
  })
}
