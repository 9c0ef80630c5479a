/** As far as the tests use it: the package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }
  interface Configuration {
    readonly findAccount?: (context: unknown, sub: string) => Promise<unknown>
    readonly interactions?: { url(context: unknown, interaction: { readonly uid: string }): string }
    readonly loadExistingGrant?: (context: {
      readonly oidc: { readonly session?: { readonly accountId?: string } }
    }) => Promise<Grant>
    readonly [option: string]: unknown
  }
  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    readonly Grant: new (properties: {
      readonly clientId: string
      readonly accountId: string
    }) => Grant
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}
