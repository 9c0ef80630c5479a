import { createClient, type HalyardClient } from '@halyard/client'
import { HalyardProvider } from '@halyard/openfeature-server'
import {
  AsyncLocalStorageTransactionContextPropagator,
  type Client,
  type EvaluationContext,
  type EvaluationDetails,
  type FlagValue,
  type Hook,
  type JsonValue,
  OpenFeature,
  ProviderEvents,
} from '@openfeature/server-sdk'
import { type Platform, type ProviderState, type Question, suitePerson } from './platform.ts'

/** The addresses that bring a provider into each state. */
export interface Addresses {
  readonly url: string
  /** Never responds. */
  readonly silentUrl: string
  /** Responds with an error to everything. */
  readonly brokenUrl: string
}

export async function serverPlatform({ url, silentUrl, brokenUrl }: Addresses, key: string) {
  const shared = createClient({ url, key, exposures: false })
  await shared.ready({ timeoutMilliseconds: 60_000 })
  let client: Client = OpenFeature.getClient()
  let provider: ContextRecorder | undefined
  let levels: { transaction: EvaluationContext; invocation: EvaluationContext } = { transaction: {}, invocation: {} }

  async function providerIn(state: ProviderState): Promise<void> {
    if (state === 'stable') {
      provider = new ContextRecorder(shared)
      await OpenFeature.setProviderAndWait(provider)
    } else if (state === 'not ready') {
      OpenFeature.setProvider(new HalyardProvider({ url: silentUrl, key }, { initializationTimeoutMilliseconds: 1e9 }))
    } else if (state === 'error') {
      const late = new HalyardProvider({ url: brokenUrl, key }, { initializationTimeoutMilliseconds: 1 })
      await OpenFeature.setProviderAndWait(late).catch(() => {})
    } else if (state === 'fatal') {
      await OpenFeature.setProviderAndWait(new HalyardProvider({ url, key: 'phs_wrong' })).catch(() => {})
    } else {
      const bootstrap = JSON.parse(shared.definitions()!)
      const silent = createClient({ url: brokenUrl, key, bootstrap, staleMilliseconds: 1, exposures: false })
      const stale = new Promise<void>(resolve => client.addHandler(ProviderEvents.Stale, () => resolve()))
      await OpenFeature.setProviderAndWait(new OwningProvider(silent))
      await stale
    }
  }

  const platform: Platform = {
    name: 'server',
    async reset() {
      await OpenFeature.clearProviders()
      OpenFeature.clearHandlers()
      OpenFeature.clearHooks()
      OpenFeature.setContext(suitePerson)
      OpenFeature.setTransactionContextPropagator(new AsyncLocalStorageTransactionContextPropagator())
      client = OpenFeature.getClient()
      levels = { transaction: {}, invocation: {} }
    },
    register: providerIn,
    providerStatus: () => client.providerStatus,
    addHook: hook => void client.addHooks(hook),
    setContext: {
      API: async context => void OpenFeature.setContext({ ...OpenFeature.getContext(), ...context }),
      Transaction: async context => void Object.assign(levels.transaction, context),
      Client: async context => void client.setContext({ ...client.getContext(), ...context }),
      Invocation: async context => void Object.assign(levels.invocation, context),
      'Before Hooks': async context => void client.addHooks({ before: () => context }),
    },
    evaluate(question, hooks = []) {
      const { transaction, invocation } = levels
      return new Promise((resolve, reject) => {
        OpenFeature.setTransactionContext(transaction, () => {
          detailsOf(client, question, invocation, hooks).then(resolve, reject)
        })
      })
    },
    receivedContext: () => provider?.received,
  }
  return {
    platform,
    async close() {
      await OpenFeature.close()
      await shared.close()
    },
  }
}

function detailsOf(
  client: Client,
  { kind, key, fallback }: Question,
  context: EvaluationContext,
  hooks: readonly Hook[],
): Promise<EvaluationDetails<FlagValue>> {
  const options = { hooks: [...hooks] }
  if (kind === 'Boolean') return client.getBooleanDetails(key, fallback as boolean, context, options)
  if (kind === 'String') return client.getStringDetails(key, fallback as string, context, options)
  if (kind === 'Object') return client.getObjectDetails(key, fallback as JsonValue, context, options)
  return client.getNumberDetails(key, fallback as number, context, options)
}

class ContextRecorder extends HalyardProvider {
  received: EvaluationContext | undefined

  override resolveBooleanEvaluation(key: string, fallback: boolean, context: EvaluationContext) {
    this.received = context
    return super.resolveBooleanEvaluation(key, fallback, context)
  }
}

/** Closes a client that was made for it alone. */
class OwningProvider extends HalyardProvider {
  readonly #own: HalyardClient

  constructor(own: HalyardClient) {
    super(own)
    this.#own = own
  }

  override async onClose(): Promise<void> {
    await super.onClose()
    await this.#own.close()
  }
}
