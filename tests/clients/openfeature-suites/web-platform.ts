import { evaluateFlags, HalyardWebProvider } from '@halyard/openfeature-web'
import {
  type Client,
  type EvaluationContext,
  type EvaluationDetails,
  type FlagValue,
  type Hook,
  type JsonValue,
  OpenFeature,
  ProviderEvents,
} from '@openfeature/web-sdk'
import { type Platform, type ProviderState, type Question, suitePerson } from './platform.ts'
import type { Addresses } from './server-platform.ts'

export function webPlatform({ url, silentUrl, brokenUrl }: Addresses, token: string) {
  const quiet = { token, storage: null, stream: false } as const
  let client: Client = OpenFeature.getClient()
  let provider: ContextRecorder | undefined

  async function providerIn(state: ProviderState): Promise<void> {
    if (state === 'stable') {
      provider = new ContextRecorder({ ...quiet, url })
      await OpenFeature.setProviderAndWait(provider)
    } else if (state === 'not ready') {
      OpenFeature.setProvider(new HalyardWebProvider({ ...quiet, url: silentUrl }))
    } else if (state === 'error') {
      await OpenFeature.setProviderAndWait(new HalyardWebProvider({ ...quiet, url: brokenUrl })).catch(() => {})
    } else if (state === 'fatal') {
      const refused = new HalyardWebProvider({ ...quiet, url, token: 'phc_wrong' })
      await OpenFeature.setProviderAndWait(refused).catch(() => {})
    } else {
      const initial = (await evaluateFlags({ url, token, context: suitePerson }))!
      const stale = new Promise<void>(resolve => client.addHandler(ProviderEvents.Stale, () => resolve()))
      await OpenFeature.setProviderAndWait(new HalyardWebProvider({ ...quiet, url: brokenUrl, initial }))
      await stale
    }
  }

  const platform: Platform = {
    name: 'web',
    async reset() {
      await OpenFeature.clearProviders()
      OpenFeature.clearHandlers()
      OpenFeature.clearHooks()
      await OpenFeature.setContext(suitePerson)
      client = OpenFeature.getClient()
    },
    register: providerIn,
    providerStatus: () => client.providerStatus,
    addHook: hook => void client.addHooks(hook),
    // In a browser the context belongs to the page: there are no contexts of clients, invocations, transactions or hooks.
    setContext: { API: async context => OpenFeature.setContext({ ...OpenFeature.getContext(), ...context }) },
    evaluate: async (question, hooks = []) => detailsOf(client, question, hooks),
    receivedContext: () => provider?.received,
  }
  return { platform, close: () => OpenFeature.close() }
}

function detailsOf(
  client: Client,
  { kind, key, fallback }: Question,
  hooks: readonly Hook[],
): EvaluationDetails<FlagValue> {
  const options = { hooks: [...hooks] }
  if (kind === 'Boolean') return client.getBooleanDetails(key, fallback as boolean, options)
  if (kind === 'String') return client.getStringDetails(key, fallback as string, options)
  if (kind === 'Object') return client.getObjectDetails(key, fallback as JsonValue, options)
  return client.getNumberDetails(key, fallback as number, options)
}

class ContextRecorder extends HalyardWebProvider {
  received: EvaluationContext | undefined

  override initialize(context: EvaluationContext = {}) {
    this.received = context
    return super.initialize(context)
  }

  override onContextChange(old: EvaluationContext, context: EvaluationContext) {
    this.received = context
    return super.onContextChange(old, context)
  }
}
