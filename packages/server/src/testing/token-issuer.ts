import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** An OpenID Connect issuer on loopback that signs whatever a test wants. */
export interface TokenIssuer {
  readonly url: string
  /** Signs with the current key. Registered claims are filled in unless the test sets them; `undefined` leaves one out. */
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>
  /** The public key, which an attacker would use as the secret of an HMAC. */
  publicKey(): Awaited<ReturnType<typeof generateKeyPair>>['publicKey']
  /** From now on tokens are signed with a new key. */
  rotate(): Promise<void>
  /** The response of the token endpoint to the code of a request. */
  onToken: (form: URLSearchParams) => Promise<{ status?: number; body: unknown }>
  /** Members of the discovery document to replace. */
  metadata: Record<string, unknown>
  /** Paths that were requested. */
  readonly requests: string[]
  /** Whether it responds 503 to everything. */
  isDown: boolean
  close(): Promise<void>
}

export async function startTokenIssuer(): Promise<TokenIssuer> {
  let count = 0
  const newKey = async () => ({ ...(await generateKeyPair('RS256', { extractable: true })), kid: `key-${++count}` })
  let key = await newKey()
  const server = createServer((request, response) => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const path = new URL(request.url ?? '/', issuer.url).pathname
    issuer.requests.push(path)
    if (issuer.isDown) return send(503, {})
    if (path === '/.well-known/openid-configuration')
      return send(200, { ...documentOf(issuer.url), ...issuer.metadata })
    if (path === '/jwks') {
      exportJWK(key.publicKey).then(jwk => send(200, { keys: [{ ...jwk, kid: key.kid, alg: 'RS256', use: 'sig' }] }))
      return
    }
    if (path === '/token') {
      readForm(request)
        .then(form => issuer.onToken(form))
        .then(
          ({ status = 200, body }) => send(status, body),
          () => send(400, { error: 'invalid_grant' }),
        )
      return
    }
    return send(404, {})
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer: TokenIssuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000)
      const all = { iss: issuer.url, iat: now, exp: now + 300, ...claims }
      return new SignJWT(JSON.parse(JSON.stringify(all)))
        .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
        .sign(key.privateKey)
    },
    publicKey: () => key.publicKey,
    async rotate() {
      key = await newKey()
    },
    onToken: async () => ({ status: 400, body: { error: 'invalid_grant' } }),
    metadata: {},
    requests: [],
    isDown: false,
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
  return issuer
}

const documentOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  end_session_endpoint: `${issuer}/logout`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  token_endpoint_auth_methods_supported: ['client_secret_post'],
})

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
