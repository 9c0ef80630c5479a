import type { JWTPayload } from 'jose'
import type { Client, Reply, Scenario } from './scenario.ts'
import type { TokenIssuer } from './token-issuer.ts'

/** A sign-in that the browser has started. */
export interface StartedSignIn {
  readonly cookie: string
  readonly authorization: URL
  readonly state: string
  readonly nonce: string
}

export const clientId = 'halyard-client'

/** Adds a provider to the first organization of a server. */
export async function addProvider(
  owner: Client & { readonly organization: string },
  issuer: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const reply = await owner.post(`${owner.organization}/identity_providers/`, {
    name: 'Test provider',
    issuer,
    client_id: clientId,
    client_secret: 'client-secret',
    ...fields,
  })
  if (reply.status !== 201) throw new Error(reply.text)
  return reply.body.id
}

/** Adds a domain and verifies it as an instance administrator. */
export async function addVerifiedDomain(owner: Client & { readonly organization: string }, domain: string) {
  const { body } = await owner.post(`${owner.organization}/domains/`, { domain })
  const verified = await owner.post(`${owner.organization}/domains/${body.id}/verify/`, { without_record: true })
  if (verified.status !== 200) throw new Error(verified.text)
}

/** As if the user had followed a link in an email: only such accounts are linked by their address. */
export const verifyAddress = (node: Scenario, { id }: { readonly id: number }): Promise<void> =>
  node.halyard.database.transaction(tx => tx.identity.updateAccount(id, { isEmailVerified: true }))

export async function startSignIn(
  node: Pick<Scenario, 'as'>,
  providerId: string,
  next?: string,
): Promise<StartedSignIn> {
  const reply = await node.as(undefined).post(`/api/login/sso/${providerId}/start/`, { ...(next && { next }) })
  if (reply.status !== 200) throw new Error(reply.text)
  const authorization = new URL(reply.body.redirect_url)
  return {
    cookie: reply.headers.get('set-cookie')?.split(';')[0] ?? '',
    authorization,
    state: authorization.searchParams.get('state') ?? '',
    nonce: authorization.searchParams.get('nonce') ?? '',
  }
}

export const finishSignIn = (
  node: Pick<Scenario, 'as'>,
  providerId: string,
  cookie: string,
  parameters: Record<string, string> | string,
): Promise<Reply> =>
  node
    .as(undefined)
    .post(
      `/api/login/sso/${providerId}/finish/`,
      { parameters: typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString() },
      { cookie },
    )

/** Signs in as a subject with these claims, all of it right unless the claims say otherwise. */
export async function signInWith(
  node: Pick<Scenario, 'as'>,
  issuer: TokenIssuer,
  providerId: string,
  claims: JWTPayload & { readonly sub: string },
): Promise<Reply> {
  const started = await startSignIn(node, providerId)
  issuer.onToken = async () => ({ body: await tokenResponse(issuer, { nonce: started.nonce, ...claims }) })
  return finishSignIn(node, providerId, started.cookie, { code: 'code', state: started.state })
}

export const tokenResponse = async (issuer: TokenIssuer, claims: JWTPayload) => ({
  access_token: 'access',
  token_type: 'Bearer',
  id_token: await issuer.sign({ aud: clientId, ...claims }),
})
