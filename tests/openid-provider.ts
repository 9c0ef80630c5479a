import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { clientId } from '../packages/server/src/testing/single-sign-on.ts'

interface RegisteredClient {
  readonly redirectUri: string
  readonly backchannelLogoutUri: string
  /** Where the browser goes after signing out. */
  readonly returnTo: string
}

/** `oidc-provider` on loopback, whose sign-in page always signs in as Ada. */
export interface OpenIdProvider {
  readonly url: string
  /** Groups that it asserts; undefined leaves the claim out. */
  groups: readonly string[] | undefined
  /** Serves one client. The provider of the server must exist before: its addresses contain the id. */
  register(client: RegisteredClient): void
  close(): void
}

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const server: Server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const started: OpenIdProvider = {
    url,
    groups: ['platform'],
    register(client) {
      const provider = createProvider(started, client)
      const handle = provider.callback()
      server.on('request', (request, response) => {
        if (request.url?.startsWith('/interaction/')) {
          provider.interactionFinished(request, response, { login: { accountId: 'ada' } }).catch(() => response.end())
        } else handle(request, response)
      })
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return started
}

function createProvider(started: OpenIdProvider, { redirectUri, backchannelLogoutUri, returnTo }: RegisteredClient) {
  const provider = new Provider(started.url, {
    clients: [
      {
        client_id: clientId,
        client_secret: 'client-secret',
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [returnTo],
        backchannel_logout_uri: backchannelLogoutUri,
        backchannel_logout_session_required: true,
      },
    ],
    pkce: { required: () => true },
    // Its guard against requests to loopback would keep back its logout tokens.
    fetch: (url: URL | string, { dispatcher, ...options }: RequestInit & { dispatcher?: unknown }) =>
      fetch(url, options),
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    findAccount: async (_context, sub) => ({
      accountId: sub,
      claims: async () => ({
        sub,
        email: 'ada@example.com',
        email_verified: true,
        name: 'Ada',
        ...(started.groups && { groups: started.groups }),
      }),
    }),
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId, accountId: oidc.session?.accountId ?? '' })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
  })
  return provider
}
