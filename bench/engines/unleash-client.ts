import type { Definitions, Subject } from '@halyard/engine'
import { unleashContext, unleashFeatures, unleashSegments } from '../peers/unleash-features.ts'
import { consume, type Engine, someSubjects } from './engine.ts'

/** The parts of unleash-client that are used here. */
interface Library {
  Unleash: new (
    options: object,
  ) => {
    on(event: string, listener: () => void): void
    isEnabled(name: string, context: object): boolean
    getVariant(name: string, context: object): { readonly name: string; readonly payload?: object }
    getFeatureToggleDefinitions(): readonly object[]
  }
  InMemStorageProvider: new () => object
}

/** Bootstraps from local definitions and makes no network requests. */
export async function unleashEngine(
  library: unknown,
  definitions: Definitions,
  subjects: readonly Subject[],
): Promise<Engine> {
  const { Unleash, InMemStorageProvider } = library as Library
  const data = unleashFeatures(definitions).map(feature => ({
    ...feature,
    type: 'release',
    enabled: true,
    project: 'default',
    stale: false,
    impressionData: false,
    variants: [],
  }))
  const client = new Unleash({
    appName: 'bench',
    url: 'http://127.0.0.1:9/api/',
    refreshInterval: 0,
    disableMetrics: true,
    skipInstanceCountWarning: true,
    storageProvider: new InMemStorageProvider(),
    bootstrap: { data, segments: unleashSegments(definitions) },
  })
  client.on('error', () => {})
  client.on('warn', () => {})
  await new Promise<void>(resolve => client.on('ready', resolve))
  const found = client.getFeatureToggleDefinitions().length
  if (found !== definitions.flags.length) throw new Error(`unleash-client has ${found} flags.`)
  const names = definitions.flags.map(({ key }, index) => ({ key, hasVariants: index % 10 >= 4 && index % 10 < 7 }))
  const contexts = subjects.slice(0, someSubjects).map(unleashContext)
  return {
    all() {
      for (const context of contexts) {
        for (const { key, hasVariants } of names) {
          if (hasVariants) consume(client.getVariant(key, context).payload ? 1 : 0)
          else consume(client.isEnabled(key, context) ? 1 : 0)
        }
      }
      return contexts.length
    },
  }
}
