import type { BaseHook, EvaluationContext, EvaluationDetails, FlagValue } from '@openfeature/core'

/** A hook that both SDKs accept: it neither waits nor changes the context. */
export type SyncHook = BaseHook<FlagValue, Record<string, unknown>, void, void>

export type Kind = 'Boolean' | 'String' | 'Integer' | 'Float' | 'Object'
export type ProviderState = 'stable' | 'not ready' | 'error' | 'fatal' | 'stale'
export type Level = 'API' | 'Transaction' | 'Client' | 'Invocation' | 'Before Hooks'

/** One SDK with Halyard's provider for it. Each scenario starts with `reset`. */
export interface Platform {
  readonly name: 'server' | 'web'
  reset(): Promise<void>
  /** Registers a provider in this state. */
  register(state: ProviderState): Promise<void>
  providerStatus(): string
  addHook(hook: SyncHook): void
  /** Undefined when the SDK has no context at this level. */
  setContext: Readonly<Partial<Record<Level, (context: EvaluationContext) => Promise<void>>>>
  evaluate(flag: Question, hooks?: readonly SyncHook[]): Promise<EvaluationDetails<FlagValue>>
  /** The context that the provider received at the last evaluation. */
  receivedContext(): EvaluationContext | undefined
}

export interface Question {
  readonly kind: Kind
  readonly key: string
  readonly fallback: unknown
}

/** The suites evaluate without a targeting key, which Halyard's persons need. */
export const suitePerson = { targetingKey: 'suite-person' }
