import type { Instant } from '../../instant.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import type { Stores } from '../../stores.ts'
import type { SignInMethod } from '../identity/sign-in/sign-in.ts'
import { credentialIdOf, type RelyingParty, signatureOf } from './passkeys.ts'
import { hashRecoveryCode, type SecondFactor } from './second-factor.ts'
import { stepOfCode } from './totp.ts'

/** What a user sends as second factor: one of them. */
export interface FactorAnswer {
  readonly code?: string | undefined
  readonly recovery_code?: string | undefined
  readonly passkey?: unknown
}

/** What an answer is checked against. */
export interface FactorQuestion {
  readonly userId: number
  readonly factors: readonly SecondFactor[]
  /** Of the passkey. */
  readonly challenge: string | undefined
  readonly party: RelyingParty
}

/** A right answer, which is still to be used up: in the transaction of what it permits. */
export interface RightAnswer {
  readonly method: SignInMethod
  /** False when it has been used meanwhile. */
  use(tx: Stores, now: Instant): Promise<boolean>
}

/** Sealed secrets of authenticator apps can be opened for their user alone. */
export const secretPurpose = (userId: number): string => `second factor of user ${userId}`

/** Undefined when the answer is wrong. A recovery code is checked when it is used. */
export async function checkAnswer(
  answer: FactorAnswer,
  question: FactorQuestion,
  box: SecretBox,
  now: Instant,
): Promise<RightAnswer | undefined> {
  if (question.factors.length === 0) return undefined
  if (answer.code !== undefined) return checkCode(answer.code, question, box, now)
  if (answer.passkey !== undefined) return checkPasskey(answer.passkey, question)
  if (answer.recovery_code === undefined) return undefined
  const hash = hashRecoveryCode(question.userId, answer.recovery_code)
  return {
    method: 'password_and_recovery_code',
    use: tx => tx.secondFactors.useRecoveryCode(question.userId, hash),
  }
}

function checkCode(code: string, { userId, factors }: FactorQuestion, box: SecretBox, now: Instant) {
  for (const factor of factors) {
    if (factor.kind !== 'code') continue
    const step = stepOfCode(box.open(factor.sealedSecret, secretPurpose(userId)), code, now)
    if (step === undefined || step <= factor.lastStep) continue
    const right: RightAnswer = {
      method: 'password_and_code',
      use: (tx, at) => tx.secondFactors.advance(factor.id, step, at),
    }
    return right
  }
  return undefined
}

async function checkPasskey(
  passkey: unknown,
  { factors, challenge, party }: FactorQuestion,
): Promise<RightAnswer | undefined> {
  const id = credentialIdOf(passkey)
  const factor = factors.find(each => each.kind === 'passkey' && each.credentialId === id)
  if (factor?.kind !== 'passkey' || challenge === undefined) return undefined
  const signatures = await signatureOf(factor, passkey, challenge, party, false)
  if (signatures === undefined) return undefined
  return { method: 'password_and_passkey', use: (tx, at) => usePasskey(tx, factor.id, signatures, at) }
}

/** Passkeys that are synchronized between devices have no counter: their challenge alone prevents a replay. */
export async function usePasskey(tx: Stores, id: string, signatures: number, now: Instant): Promise<boolean> {
  if (signatures > 0) return tx.secondFactors.advance(id, signatures, now)
  await tx.secondFactors.touch(id, now)
  return true
}
