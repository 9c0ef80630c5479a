import type { Outgoing } from '../../outgoing/outgoing.ts'
import { outgoingFetch } from '../../outgoing/outgoing-fetch.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import type { Database } from '../../stores.ts'
import type { ProviderLogout } from '../identity/sign-in/sign-in-routes.ts'
import { idTokenPurpose } from './identity-provider.ts'
import { createIssuers, type Issuers } from './issuers.ts'
import { createProviderClient, type ProviderClient } from './provider-client.ts'
import { type ReadTextRecords, readTextRecords } from './save-domain.ts'

interface Parts {
  readonly database: Database
  readonly outgoing: Outgoing
  readonly secretBox: SecretBox
  readonly config: {
    readonly publicUrl: string | undefined
    readonly trustedOrigins: readonly string[]
    readonly dnsServers: readonly string[]
  }
}

/** What the routes of single sign-on and token exchange share. */
export interface SingleSignOn {
  readonly secretBox: SecretBox
  readonly issuers: Issuers
  readonly client: ProviderClient
  readonly readTextRecords: ReadTextRecords
  /** The address that users open: as configured, or that of the request. */
  readonly originOf: (url: URL) => string
  readonly providerLogout: ProviderLogout
}

export function createSingleSignOn({ database, outgoing, secretBox, config }: Parts): SingleSignOn {
  const fetch = outgoingFetch(outgoing)
  const issuers = createIssuers(
    fetch,
    config.trustedOrigins.map(address => new URL(address).origin),
  )
  const client = createProviderClient(issuers, fetch, secretBox)
  const originOf = (url: URL) => config.publicUrl ?? url.origin
  return {
    secretBox,
    issuers,
    client,
    readTextRecords: readTextRecords(config.dnsServers),
    originOf,
    async providerLogout({ id, idToken }, url) {
      const provider = await database.read(tx => tx.identityProviders.find(id))
      const hint = idToken === null ? undefined : secretBox.open(idToken, idTokenPurpose)
      // The session has ended here, whether or not the provider can be reached.
      const address =
        provider && (await client.endSessionUrl(provider, hint, `${originOf(url)}/login`).catch(() => undefined))
      return address?.href
    },
  }
}
