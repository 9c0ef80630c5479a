import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import type { User } from '../../tenancy.ts'
import type { PasskeyFactor } from './second-factor.ts'

/** Who a browser sees: passkeys are bound to the domain, and each response names the origin. */
export interface RelyingParty {
  readonly rpId: string
  readonly origins: readonly string[]
}

/**
 * The public URL or, without one, the address of the request. Behind a proxy that ends TLS without being trusted, the scheme is
 * unknown: both are accepted, and browsers offer passkeys in secure contexts only.
 */
export function relyingPartyOf(url: URL, publicUrl: string | undefined): RelyingParty {
  const address = publicUrl === undefined ? url : new URL(publicUrl)
  const origins = publicUrl === undefined ? [`https://${url.host}`, `http://${url.host}`] : [address.origin]
  return { rpId: address.hostname, origins }
}

type Credential = Pick<PasskeyFactor, 'credentialId' | 'publicKey' | 'rpId' | 'transports' | 'signatures'>

const timeoutMilliseconds = 120_000

export const passkeyCreation = (user: User, { rpId }: RelyingParty, existing: readonly Credential[]) =>
  generateRegistrationOptions({
    rpName: 'Halyard',
    rpID: rpId,
    userName: user.email,
    userDisplayName: user.firstName,
    userID: new TextEncoder().encode(user.uuid),
    timeout: timeoutMilliseconds,
    attestationType: 'none',
    excludeCredentials: existing.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  })

/** With credentials: the second step of a sign-in. Without: any passkey of this domain, which must verify its user. */
export const passkeyRequest = ({ rpId }: RelyingParty, allowed?: readonly Credential[]) =>
  generateAuthenticationOptions({
    rpID: rpId,
    timeout: timeoutMilliseconds,
    userVerification: allowed ? 'preferred' : 'required',
    ...(allowed && {
      allowCredentials: allowed.map(({ credentialId, transports }) => ({
        id: credentialId,
        transports: [...transports],
      })),
    }),
  })

/** Undefined when the response does not fit the challenge, the origin or the domain, or its signature is wrong. */
export async function readNewPasskey(
  response: unknown,
  challenge: string,
  { rpId, origins }: RelyingParty,
): Promise<Credential | undefined> {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response as Parameters<typeof verifyRegistrationResponse>[0]['response'],
      expectedChallenge: challenge,
      expectedOrigin: [...origins],
      expectedRPID: rpId,
      requireUserVerification: false,
    })
    if (!verified) return undefined
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential
    return {
      credentialId: id,
      publicKey: Buffer.from(publicKey).toString('base64url'),
      rpId,
      transports: transports.filter(each => typeof each === 'string').slice(0, 10),
      signatures: counter,
    }
  } catch {
    return undefined
  }
}

/** The new signature counter; undefined as above, and when the counter did not grow: the passkey may be a copy. */
export async function signatureOf(
  credential: Credential,
  response: unknown,
  challenge: string,
  { rpId, origins }: RelyingParty,
  isUserVerified: boolean,
): Promise<number | undefined> {
  if (credential.rpId !== rpId) return undefined
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      expectedChallenge: challenge,
      expectedOrigin: [...origins],
      expectedRPID: rpId,
      requireUserVerification: isUserVerified,
      credential: {
        id: credential.credentialId,
        publicKey: new Uint8Array(Buffer.from(credential.publicKey, 'base64url')),
        counter: credential.signatures,
      },
    })
    return verified ? authenticationInfo.newCounter : undefined
  } catch {
    return undefined
  }
}

export const credentialIdOf = (response: unknown): string => {
  const { id } = (response ?? {}) as { id?: unknown }
  return typeof id === 'string' ? id.slice(0, 2000) : ''
}
