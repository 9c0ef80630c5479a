import { routes } from '@halyard/contract'
import { answer, type RouteRequest, type ServeRoute } from '../../http/routes/serve-route.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { Origin } from '../../origin.ts'
import { Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Account } from '../identity/account.ts'
import { sessionToWire } from '../identity/api-key-resource.ts'
import { hashSecret, newSecret } from '../identity/secret.ts'
import { openSession, type SignInOrigin } from '../identity/sign-in/open-session.ts'
import { recordSignIn } from '../identity/sign-in/record-sign-in.ts'
import type { SignInMethod } from '../identity/sign-in/sign-in.ts'
import { refreshCookie } from '../identity/sign-in/sign-in-cookie.ts'
import { checkAnswer, type FactorAnswer, usePasskey } from '../second-factor/check-factor.ts'
import {
  credentialIdOf,
  passkeyRequest,
  type RelyingParty,
  relyingPartyOf,
  signatureOf,
} from '../second-factor/passkeys.ts'
import { methodsOf, passkeysFor } from '../second-factor/second-factor.ts'
import type { FactorDeps } from '../second-factor/second-factor-routes.ts'
import { requirePasswordAllowed } from '../single-sign-on/require-single-sign-on.ts'

const pendingMilliseconds = 5 * 60_000
const passkeyPurpose = 'sign-in with a passkey'

/** What the second step of a sign-in needs of the first. */
interface Pending {
  readonly challenge?: string
  readonly isRemembered: boolean
}

/** Password, then a second factor where there is one; or a passkey, which is both. */
export function serveLogin(serve: ServeRoute, deps: FactorDeps): void {
  const { database, passwords, throttle, factorThrottle, secretBox, publicUrl, now } = deps

  serve(routes.session.login, async request => {
    const { body, clientAddress, url } = request
    const account = await throttle.guess(body.email, clientAddress, () => findByPassword(body))
    if (!account) {
      await recordRefusal(body.email, 'wrong password', request.origin)
      throw new Problem('unauthenticated', 'The email address or password is wrong.')
    }
    await database.read(tx => requirePasswordAllowed(tx, account))
    const isRemembered = body.remember ?? false
    const pending = await beginPending(account, isRemembered, relyingPartyOf(url, publicUrl))
    if (pending) return answer({ status: 202, body: pending })
    return signedIn(await open(request, 'password', isRemembered, async () => account))
  })

  serve(routes.secondFactors.signIn, async request => {
    const { body, clientAddress } = request
    const hash = hashSecret(body.token)
    const token = await database.read(tx => tx.accountTokens.find(hash, 'sign_in', now()))
    const account = token && (await database.read(tx => tx.identity.findAccount(token.userId)))
    if (!token || !account?.isActive) throw expired()
    const { challenge, isRemembered } = JSON.parse(token.data) as Pending
    const opened = await factorThrottle.guess(account.email, clientAddress, () =>
      completePending(request, account, hash, challenge, isRemembered),
    )
    if (!opened) {
      await recordRefusal(account.email, 'wrong second factor', request.origin)
      throw new Problem('unauthenticated', 'The second factor is wrong or was used before.')
    }
    return opened
  })

  serve(routes.secondFactors.passkeyOptions, async ({ url }) => {
    const options = await passkeyRequest(relyingPartyOf(url, publicUrl))
    const expiresAt = plusMilliseconds(now(), pendingMilliseconds)
    // Sealed instead of stored, so that strangers cannot fill the database.
    const token = secretBox.seal(JSON.stringify({ challenge: options.challenge, expiresAt }), passkeyPurpose)
    return { token, options: { ...options } }
  })

  serve(routes.secondFactors.passkeySignIn, async request => {
    const { body, clientAddress, url } = request
    const challenge = openChallenge(body.token)
    const id = credentialIdOf(body.passkey)
    const signed = await factorThrottle.guess(`passkey ${id}`, clientAddress, async () => {
      const factor = await database.read(tx => tx.secondFactors.findPasskey(id))
      const signatures =
        factor && (await signatureOf(factor, body.passkey, challenge.challenge, relyingPartyOf(url, publicUrl), true))
      return signatures === undefined || !factor ? undefined : { factor, signatures }
    })
    if (!signed) throw new Problem('unauthenticated', 'This passkey is not valid here. Sign in with your password.')
    const { factor, signatures } = signed
    const opened = await open(request, 'passkey', body.remember ?? false, async tx => {
      const account = await tx.identity.findAccount(factor.userId)
      const mark = { hash: hashSecret(body.token), userId: factor.userId, data: '{}', expiresAt: challenge.expiresAt }
      const isFirst = await tx.accountTokens.create({ ...mark, purpose: 'used_passkey' }, now())
      const isUsable = isFirst && (await usePasskey(tx, factor.id, signatures, now()))
      return account?.isActive && isUsable ? account : undefined
    })
    return signedIn(opened)
  })

  /** The throttles limit how many there can be. */
  async function recordRefusal(email: string, reason: string, origin: Origin): Promise<void> {
    await database.transaction(async tx => {
      const account = await tx.identity.findAccountByEmail(email)
      const refusal = { activity: 'refused', signInId: '', reason, origin } as const
      if (account) await recordSignIn(tx, account, refusal, now())
    })
  }

  async function findByPassword({ email, password }: { readonly email: string; readonly password: string }) {
    const account = await database.read(tx => tx.identity.findAccountByEmail(email))
    const isRight = await passwords.verify(password, account?.passwordHash ?? null)
    return isRight && account?.isActive ? account : undefined
  }

  /** Undefined for an account without a second factor. */
  async function beginPending(account: Account, isRemembered: boolean, party: RelyingParty) {
    const factors = await database.read(tx => tx.secondFactors.list(account.id))
    if (factors.length === 0) return undefined
    const passkeys = passkeysFor(factors, party)
    const options = passkeys.length === 0 ? undefined : await passkeyRequest(party, passkeys)
    const token = newSecret('')
    const expiresAt = plusMilliseconds(now(), pendingMilliseconds)
    const data: Pending = { isRemembered, ...(options && { challenge: options.challenge }) }
    const codesLeft = await database.transaction(async tx => {
      const pending = { hash: hashSecret(token), userId: account.id, data: JSON.stringify(data), expiresAt }
      await tx.accountTokens.create({ ...pending, purpose: 'sign_in' }, now())
      return tx.secondFactors.countRecoveryCodes(account.id)
    })
    return {
      token,
      expires_at: expiresAt,
      methods: methodsOf(factors, party, codesLeft),
      passkey_options: options ? { ...options } : null,
    }
  }

  /** Undefined when the second factor is wrong. */
  async function completePending(
    request: LoginRequest & { readonly body: FactorAnswer },
    account: Account,
    hash: string,
    challenge: string | undefined,
    isRemembered: boolean,
  ) {
    const party = relyingPartyOf(request.url, publicUrl)
    const factors = await database.read(tx => tx.secondFactors.list(account.id))
    const question = { userId: account.id, factors, challenge, party }
    const right = await checkAnswer(request.body, question, secretBox, now())
    const opened =
      right &&
      (await open(request, right.method, isRemembered, async tx => {
        if (!(await right.use(tx, now()))) return undefined
        if (!(await tx.accountTokens.consume(hash))) throw expired()
        return account
      }))
    if (!opened) await database.transaction(tx => tx.accountTokens.countAttempt(hash))
    return opened
  }

  /** Undefined when there is no account after all. */
  async function open(
    { headers, clientAddress, url, origin: request }: LoginRequest,
    method: SignInMethod,
    isRemembered: boolean,
    accountOf: (tx: Stores) => Promise<Account | undefined>,
  ) {
    const origin: SignInOrigin = { userAgent: headers['user-agent'] ?? '', address: clientAddress, request }
    const session = await database.transaction(async tx => {
      const account = await accountOf(tx)
      if (!account) return undefined
      await requirePasswordAllowed(tx, account)
      return openSession(tx, account, { method, origin, isRemembered }, now())
    })
    if (!session) return undefined
    const cookie = session.refreshToken === undefined ? undefined : refreshCookie(session.refreshToken, url)
    return answer<typeof routes.secondFactors.signIn>({
      status: 200,
      body: sessionToWire(session),
      ...(cookie && { headers: { 'set-cookie': cookie } }),
    })
  }

  function openChallenge(token: string): { readonly challenge: string; readonly expiresAt: Instant } {
    try {
      const opened = JSON.parse(secretBox.open(token, passkeyPurpose))
      if (opened.expiresAt > now()) return opened
    } catch {
      // Sealed by another server, or not a token at all.
    }
    throw expired()
  }
}

type LoginRequest = Pick<RouteRequest<typeof routes.session.login>, 'headers' | 'clientAddress' | 'url' | 'origin'>

function signedIn<T>(opened: T | undefined): T {
  if (opened === undefined) throw expired()
  return opened
}

const expired = (): Problem => new Problem('unauthenticated', 'This sign-in has expired or was completed. Start again.')
