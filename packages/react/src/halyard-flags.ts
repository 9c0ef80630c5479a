import { type FlagSnapshot, HalyardWebProvider, type HalyardWebProviderOptions } from '@halyard/openfeature-web'
import { OpenFeatureProvider } from '@openfeature/react-sdk'
import { type Client, type EvaluationContext, OpenFeature, type Provider } from '@openfeature/web-sdk'
import { createElement, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { snapshotClient } from './snapshot-client.ts'

export interface HalyardFlagsProps extends HalyardWebProviderOptions {
  /** The person: `targetingKey`, and properties. */
  readonly context: EvaluationContext
  /**
   * Values that the server has rendered with, from `evaluateFlags` for the same context. The first render uses them, so that nothing
   * flickers; newer ones arrive in the background.
   */
  readonly initial?: FlagSnapshot
  readonly children?: ReactNode
}

/** Provides flags to the hooks of this package and of `@openfeature/react-sdk`, in browsers and on servers. */
export function HalyardFlags({ children, context, ...options }: HalyardFlagsProps): ReactNode {
  const domain = `halyard-${useId()}`
  const [connection] = useState(() => (isServer ? undefined : connect(domain, options, context)))
  const [rendering] = useState(() => (isServer ? snapshotClient(options) : undefined))
  useEffect(() => connection?.open(), [connection])
  useContextChange(connection, context)
  const client = rendering ?? connection!.client
  return createElement(OpenFeatureProvider, { client }, children)
}

const isServer = !('document' in globalThis)

interface Connection {
  readonly client: Client
  /** Returns a function that closes it. */
  open(): () => void
  change(context: EvaluationContext): void
}

/** By domain: React may call the initializer of a state twice, or again for a component that has not been mounted. */
const connections = new Map<string, Connection>()

function connect(domain: string, options: HalyardWebProviderOptions, context: EvaluationContext): Connection {
  const connection = connections.get(domain) ?? createConnection(domain, options, context)
  connections.set(domain, connection)
  return connection
}

function createConnection(domain: string, options: HalyardWebProviderOptions, context: EvaluationContext): Connection {
  const provider = new HalyardWebProvider(options)
  const isHydrating = options.initial !== undefined
  const report = () => {} // Failures show as the status of the provider.
  // A provider without `initialize` is ready at once, so that the first render already has its values.
  OpenFeature.setProvider(domain, isHydrating ? withoutInitialize(provider) : provider, context)
  let closing: ReturnType<typeof setTimeout> | undefined
  let isOpen = false
  return {
    client: OpenFeature.getClient(domain),
    open() {
      clearTimeout(closing)
      if (!isOpen && isHydrating) provider.initialize(context).catch(report)
      isOpen = true
      // React's strict mode closes and opens every effect once.
      return () => {
        closing = setTimeout(() => {
          connections.delete(domain)
          void provider.onClose()
        }, 0)
      }
    },
    change: next => void OpenFeature.setContext(domain, next).catch(report),
  }
}

function withoutInitialize(provider: HalyardWebProvider): Provider {
  return {
    metadata: provider.metadata,
    runsOn: provider.runsOn,
    events: provider.events,
    resolveBooleanEvaluation: (key, fallback) => provider.resolveBooleanEvaluation(key, fallback),
    resolveStringEvaluation: (key, fallback) => provider.resolveStringEvaluation(key, fallback),
    resolveNumberEvaluation: (key, fallback) => provider.resolveNumberEvaluation(key, fallback),
    resolveObjectEvaluation: (key, fallback) => provider.resolveObjectEvaluation(key, fallback),
    onContextChange: (before, after) => provider.onContextChange(before, after),
    onClose: () => provider.onClose(),
    track: (event, context, details) => provider.track(event, context, details),
  }
}

/** Contexts are compared by content: applications often create the object in every render. */
function useContextChange(connection: Connection | undefined, context: EvaluationContext): void {
  const text = JSON.stringify(context)
  const applied = useRef(text)
  useEffect(() => {
    if (applied.current === text) return
    applied.current = text
    connection?.change(JSON.parse(text))
  }, [connection, text])
}
