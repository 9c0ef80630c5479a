import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { forbidden, invalid, Problem } from '../../problem.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import type { Stores } from '../../stores.ts'
import type { Actor } from '../../tenancy.ts'
import type { TokenPurpose } from '../identity/account-token-store.sql.ts'
import { hashSecret, newId, newSecret } from '../identity/secret.ts'
import type { LoginThrottle } from '../identity/sign-in/login-throttle.ts'
import type { Passwords } from '../identity/sign-in/password.ts'
import { addFactor, removeFactor, renewRecoveryCodes, resetMember } from './change-factors.ts'
import { checkAnswer, type FactorAnswer, secretPurpose } from './check-factor.ts'
import { passkeyCreation, passkeyRequest, readNewPasskey, relyingPartyOf } from './passkeys.ts'
import { methodsOf, passkeysFor, type SecondFactor } from './second-factor.ts'
import { newTotpSecret, stepOfCode, totpUri } from './totp.ts'

export interface FactorDeps extends RouteDeps {
  readonly passwords: Passwords
  /** Counts wrong passwords. */
  readonly throttle: LoginThrottle
  /** Counts wrong second factors. */
  readonly factorThrottle: LoginThrottle
  readonly secretBox: SecretBox
  readonly publicUrl: string | undefined
}

const stepMilliseconds = 10 * 60_000
const proofMilliseconds = 10 * 60_000

/** Second factors of the caller's account. */
export function serveSecondFactors(serve: ServeRoute, deps: FactorDeps): void {
  const { database, secretBox, publicUrl, now } = deps
  const r = routes.secondFactors

  serve(r.list, ({ actor }) =>
    database.read(async tx => {
      const organizations = await tx.organizations.listRequiringFactor(actor.user.id)
      return {
        factors: (await tx.secondFactors.list(actor.user.id)).map(factorToWire),
        recovery_codes_left: await tx.secondFactors.countRecoveryCodes(actor.user.id),
        required_by: organizations.filter(each => actor.levels.has(each.id)).map(({ name }) => name),
      }
    }),
  )

  serve(r.prepareCode, async ({ actor }) => {
    const secret = newTotpSecret()
    const data = { secret: secretBox.seal(secret, secretPurpose(actor.user.id)) }
    const token = await database.transaction(async tx => {
      await requireFreshProof(tx, actor, now())
      return storeStep(tx, actor, 'new_code', data, now())
    })
    return { token, secret, uri: totpUri(secret, actor.user.email) }
  })

  serve(r.addCode, async ({ actor, body }) => {
    const added = await database.transaction(async tx => {
      await requireFreshProof(tx, actor, now())
      const { hash, data } = await getStep(tx, actor, 'new_code', body.token, now())
      const sealedSecret = String(data.secret)
      const step = stepOfCode(secretBox.open(sealedSecret, secretPurpose(actor.user.id)), body.code, now())
      if (step === undefined) {
        await tx.accountTokens.countAttempt(hash)
        return undefined
      }
      if (!(await tx.accountTokens.consume(hash))) throw stepGone()
      const factor = { ...newFactor(actor, body.name, 'Authenticator app', now()), kind: 'code' as const }
      return addFactor(tx, actor, { ...factor, sealedSecret, lastStep: step }, now())
    })
    if (!added) throw invalid('code', 'invalid_input', '`code` is wrong. Check the time of your device and try again.')
    return newFactorToWire(added)
  })

  serve(r.preparePasskey, async ({ actor, url }) => {
    const party = relyingPartyOf(url, publicUrl)
    const factors = await database.read(tx => tx.secondFactors.list(actor.user.id))
    const options = await passkeyCreation(actor.user, party, passkeysFor(factors, party))
    const token = await database.transaction(async tx => {
      await requireFreshProof(tx, actor, now())
      return storeStep(tx, actor, 'new_passkey', { challenge: options.challenge }, now())
    })
    return { token, options: { ...options } }
  })

  serve(r.addPasskey, async ({ actor, body, url }) => {
    const { data } = await database.read(tx => getStep(tx, actor, 'new_passkey', body.token, now()))
    const credential = await readNewPasskey(body.passkey, String(data.challenge), relyingPartyOf(url, publicUrl))
    if (!credential) {
      throw invalid('passkey', 'invalid_input', '`passkey` does not fit this address. Open Halyard at its public URL.')
    }
    const added = await database.transaction(async tx => {
      await requireFreshProof(tx, actor, now())
      const { hash } = await getStep(tx, actor, 'new_passkey', body.token, now())
      if (!(await tx.accountTokens.consume(hash))) throw stepGone()
      if (await tx.secondFactors.findPasskey(credential.credentialId)) {
        throw invalid('passkey', 'unique', 'This passkey has been added before.')
      }
      const factor = { ...newFactor(actor, body.name, 'Passkey', now()), kind: 'passkey' as const }
      return addFactor(tx, actor, { ...factor, ...credential }, now())
    })
    return newFactorToWire(added)
  })

  serve(r.remove, async ({ actor, params }) => {
    await database.transaction(async tx => {
      await requireFreshProof(tx, actor, now())
      await removeFactor(tx, actor, params.factor_id, now())
    })
    return answer({ status: 204 })
  })

  serve(r.renewRecoveryCodes, async ({ actor }) => ({
    recovery_codes: await database.transaction(async tx => {
      await requireFreshProof(tx, actor, now())
      return [...(await renewRecoveryCodes(tx, actor, now()))]
    }),
  }))

  serve(r.resetMember, async ({ actor, organization, params }) => {
    await database.transaction(tx => resetMember(tx, actor, organization, params.user_uuid, now()))
    return answer({ status: 204 })
  })

  serveProof(serve, deps)
}

/** Proves again who the user of a sign-in is, before what a stolen session must not do. */
function serveProof(serve: ServeRoute, deps: FactorDeps): void {
  const { database, passwords, throttle, factorThrottle, secretBox, publicUrl, now } = deps
  const r = routes.secondFactors

  serve(r.prepareProof, async ({ actor, url }) => {
    const party = relyingPartyOf(url, publicUrl)
    const factors = await database.read(tx => tx.secondFactors.list(actor.user.id))
    const passkeys = passkeysFor(factors, party)
    const options = passkeys.length === 0 ? undefined : await passkeyRequest(party, passkeys)
    return database.transaction(async tx => ({
      token: await storeStep(tx, actor, 'proof', options ? { challenge: options.challenge } : {}, now()),
      methods: methodsOf(factors, party, await tx.secondFactors.countRecoveryCodes(actor.user.id)),
      passkey_options: options ? { ...options } : null,
    }))
  })

  serve(r.prove, async ({ actor, body, url, clientAddress }) => {
    const signInId = signInOf(actor)
    const { hash, data } = await database.read(tx => getStep(tx, actor, 'proof', body.token, now()))
    const factors = await database.read(tx => tx.secondFactors.list(actor.user.id))
    const party = relyingPartyOf(url, publicUrl)
    const challenge = data.challenge === undefined ? undefined : String(data.challenge)
    const question = { userId: actor.user.id, factors, challenge, party }
    const isProven = await (factors.length === 0
      ? throttle.guess(actor.user.email, clientAddress, () => provePassword(body.password))
      : factorThrottle.guess(actor.user.email, clientAddress, () => proveFactor(body)))
    if (!isProven) throw invalid(null, 'invalid_input', 'The proof is wrong or was used before. Try again.')
    return answer({ status: 204 })

    async function provePassword(password: string | undefined) {
      const account = await database.read(tx => tx.identity.findAccount(actor.user.id))
      const isRight = await passwords.verify(password ?? '', account?.passwordHash ?? null)
      return isRight ? database.transaction(tx => record(tx)) : undefined
    }
    async function proveFactor(sent: FactorAnswer) {
      const right = await checkAnswer(sent, question, secretBox, now())
      if (!right) return undefined
      return database.transaction(async tx => ((await right.use(tx, now())) ? record(tx) : undefined))
    }
    async function record(tx: Stores): Promise<true> {
      if (!(await tx.accountTokens.consume(hash))) throw stepGone()
      await tx.signIns.recordProof(signInId, now())
      return true
    }
  })
}

/** Raises `forbidden` for an API key, and with `proof_required` when the last proof is too old. */
async function requireFreshProof(tx: Stores, actor: Actor, now: Instant): Promise<void> {
  const signIn = await tx.signIns.find(actor.user.id, signInOf(actor))
  if (signIn && signIn.provenAt > plusMilliseconds(now, -proofMilliseconds)) return
  throw new Problem('forbidden', 'Confirm who you are first: your last proof is older than 10 minutes.', {
    code: 'proof_required',
  })
}

/** Not of a sign-in with a provider: its organization alone trusts it, and a passkey would reach the others. */
function signInOf({ key }: Actor): string {
  if (key.isSession && key.signInId && key.organizationIds.length === 0) return key.signInId
  if (key.isSession) throw forbidden('Single sign-on cannot change second factors. Sign in with your password instead.')
  throw forbidden('An API key cannot change second factors. Sign in with your password instead.')
}

async function storeStep(tx: Stores, { user }: Actor, purpose: TokenPurpose, data: object, now: Instant) {
  const token = newSecret('')
  const expiresAt = plusMilliseconds(now, stepMilliseconds)
  const step = { hash: hashSecret(token), userId: user.id, purpose, data: JSON.stringify(data), expiresAt }
  await tx.accountTokens.create(step, now)
  return token
}

/** Raises `invalid` for a token that has expired or belongs to someone else. */
async function getStep(tx: Stores, { user }: Actor, purpose: TokenPurpose, token: string, now: Instant) {
  const step = await tx.accountTokens.find(hashSecret(token), purpose, now)
  if (step?.userId !== user.id) throw stepGone()
  return { hash: step.hash, data: JSON.parse(step.data) as Readonly<Record<string, unknown>> }
}

const stepGone = (): Problem => invalid('token', 'invalid_input', '`token` has expired or was used. Start again.')

const newFactor = ({ user }: Actor, name: string | undefined, fallback: string, now: Instant) => ({
  id: newId(),
  userId: user.id,
  name: name?.trim() || fallback,
  createdAt: now,
  lastUsedAt: null,
})

const factorToWire = ({ id, kind, name, createdAt, lastUsedAt }: SecondFactor) => ({
  id,
  kind,
  name,
  created_at: createdAt,
  last_used_at: lastUsedAt,
})

const newFactorToWire = (added: { factor: SecondFactor; recoveryCodes: readonly string[] | null }) => ({
  factor: factorToWire(added.factor),
  recovery_codes: added.recoveryCodes && [...added.recoveryCodes],
})
