import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { invalid } from '../../../problem.ts'
import type { LoginThrottle, ThrottleLimits } from './login-throttle.ts'
import type { Passwords } from './password.ts'
import { getReset, resetPassword, sendResetLink } from './reset-password.ts'

interface Deps extends RouteDeps {
  readonly passwords: Passwords
  /** Counts requests for links, each as a failure. */
  readonly throttle: LoginThrottle
  readonly onFailure: (error: unknown) => void
}

/** Emails within five minutes; unlike a wrong password, each one reaches the person. */
export const resetLimits: ThrottleLimits = { accountFromAddress: 3, account: 3, address: 20 }

/** Forgotten passwords, where a mail server is configured. */
export function servePasswordReset(serve: ServeRoute, deps: Deps): void {
  const { database, passwords, throttle, onFailure, now } = deps
  const isEnabled = () => database.read(async tx => tx.emails.isEnabled)

  serve(routes.passwordReset.get, async () => ({ by_email: await isEnabled() }))

  serve(routes.passwordReset.request, async ({ body, clientAddress }) => {
    if (!(await isEnabled())) {
      throw invalid(null, 'email_not_configured', 'No mail server is configured. Ask an administrator for a password.')
    }
    await throttle.guess(body.email, clientAddress, async () => undefined)
    // Not awaited: the response takes as long for an address without an account.
    database.transaction(tx => sendResetLink(tx, body.email.trim(), now())).catch(onFailure)
    return answer({ status: 202 })
  })

  serve(routes.passwordReset.complete, async ({ body, origin }) => {
    // Hashing takes long: not for a token that no one has.
    await database.read(tx => getReset(tx, body.token, now()))
    const passwordHash = await passwords.hash(body.password)
    await database.transaction(tx => resetPassword(tx, body.token, passwordHash, origin, now()))
    return answer({ status: 204 })
  })
}
