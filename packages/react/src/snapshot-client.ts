import { HalyardWebProvider, type HalyardWebProviderOptions } from '@halyard/openfeature-web'
import { type Client, ProviderStatus, type ResolutionDetails } from '@openfeature/web-sdk'

/**
 * A client for one rendering on a server: the values of the snapshot, without the global state that OpenFeature has for browsers, which
 * requests of several people would share.
 */
export function snapshotClient(options: HalyardWebProviderOptions): Client {
  const provider = new HalyardWebProvider({ ...options, storage: null, stream: false })
  const details = <T>(resolve: (key: string, fallback: T) => ResolutionDetails<T>) => {
    return (flagKey: string, fallback: T) => ({ flagMetadata: {}, ...resolve(flagKey, fallback), flagKey })
  }
  const getBooleanDetails = details<boolean>((key, fallback) => provider.resolveBooleanEvaluation(key, fallback))
  const getStringDetails = details<string>((key, fallback) => provider.resolveStringEvaluation(key, fallback))
  const getNumberDetails = details<number>((key, fallback) => provider.resolveNumberEvaluation(key, fallback))
  const getObjectDetails = details<never>((key, fallback) => provider.resolveObjectEvaluation(key, fallback))
  const client = {
    metadata: { providerMetadata: provider.metadata },
    // Without a snapshot the defaults are rendered: nothing would end a suspension.
    providerStatus: ProviderStatus.READY,
    getBooleanDetails,
    getStringDetails,
    getNumberDetails,
    getObjectDetails,
    getBooleanValue: (key: string, fallback: boolean) => getBooleanDetails(key, fallback).value,
    getStringValue: (key: string, fallback: string) => getStringDetails(key, fallback).value,
    getNumberValue: (key: string, fallback: number) => getNumberDetails(key, fallback).value,
    getObjectValue: (key: string, fallback: never) => getObjectDetails(key, fallback).value,
    // Nothing changes during a rendering, and nothing is sent.
    addHandler() {},
    removeHandler() {},
    getHandlers: () => [],
    addHooks: () => client,
    getHooks: () => [],
    clearHooks: () => client,
    setLogger: () => client,
    track() {},
  }
  return client as unknown as Client
}
