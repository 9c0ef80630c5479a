import type { Definitions, Subject } from '@halyard/engine'
import { flagdFlags } from '../peers/flagd-flags.ts'
import { consume, type Engine, someSubjects } from './engine.ts'

/** The parts of @openfeature/flagd-core that are used here. */
interface Library {
  FlagdCore: new (
    storage?: undefined,
    logger?: object,
  ) => {
    setConfigurations(flags: string): void
    resolveAll(context: object): readonly { readonly reason?: string }[]
    resolveBooleanEvaluation(key: string, otherwise: boolean, context: object): { readonly value: boolean }
    resolveObjectEvaluation(key: string, otherwise: object, context: object): { readonly value: object }
  }
}

const quiet = { error() {}, warn() {}, info() {}, debug() {} }

export function flagdEngine(library: unknown, definitions: Definitions, subjects: readonly Subject[]): Engine {
  const { FlagdCore } = library as Library
  const core = new FlagdCore(undefined, quiet)
  core.setConfigurations(flagdFlags(definitions))
  const flags = definitions.flags.map(({ key }, index) => ({ key, hasVariants: index % 10 >= 4 && index % 10 < 7 }))
  const contexts = subjects
    .slice(0, someSubjects)
    .map(({ distinctId, personProperties }) => ({ targetingKey: distinctId, ...personProperties }))
  return {
    all() {
      for (const context of contexts) {
        const found = core.resolveAll(context)
        if (found.length !== flags.length) throw new Error(`flagd-core returned ${found.length} flags.`)
        for (const { reason } of found) {
          if (reason === 'ERROR') throw new Error('flagd-core could not evaluate a flag.')
        }
        consume(found.length)
      }
      return contexts.length
    },
    one() {
      for (let index = 0; index < 1000; index++) {
        const { key, hasVariants } = flags[index % flags.length]!
        const context = contexts[index % contexts.length]!
        if (hasVariants) consume(core.resolveObjectEvaluation(key, {}, context).value ? 1 : 0)
        else consume(core.resolveBooleanEvaluation(key, false, context).value ? 1 : 0)
      }
      return 1000
    },
  }
}
