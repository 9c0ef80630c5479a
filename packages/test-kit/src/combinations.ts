import type { DefinitionsDocument } from '@halyard/client'
import { compile, type Definitions, type FlagDefinition, type FlagValue } from '@halyard/engine'

export interface CombinationOptions {
  /** Only these flags; default: all. Others keep their definition. */
  readonly keys?: readonly string[]
  /** Throws when there would be more. Default: 1,000. */
  readonly max?: number
}

export type Combination = Readonly<Record<string, FlagValue>>

const noMatch = { regex: () => ({ size: 1, test: () => true }) }

/**
 * The combinations of values that some person can get: a flag that is constant has one value, and a flag that depends on another has the
 * values that remain when the other has its own. Filters on properties are not compared with each other, so that some combinations may
 * need a person who does not exist.
 */
export function combinationsOf(document: DefinitionsDocument, options: CombinationOptions = {}): Combination[] {
  const { keys, max = 1000 } = options
  const definitions = definitionsOf(document)
  const wanted = keys === undefined ? undefined : new Set(keys)
  const missing = keys?.find(key => !definitions.flags.some(flag => flag.key === key))
  if (missing !== undefined) throw new Error(`The definitions contain no flag "${missing}".`)
  const combinations: Combination[] = []
  const order = dependenciesFirst(definitions).filter(({ key }) => wanted?.has(key) ?? true)

  function choose(remaining: readonly FlagDefinition[], fixed: Definitions, chosen: Combination): void {
    const [flag, ...rest] = remaining
    if (flag === undefined) {
      if (combinations.length >= max)
        throw new Error(`There are more than ${max} combinations. Name fewer flags in \`keys\`.`)
      combinations.push(chosen)
      return
    }
    const snapshot = compile(fixed, noMatch)
    const values = snapshot.reachable[snapshot.indexOf(flag.key)!]!
    for (const value of values) {
      const flags = fixed.flags.map(each => (each.id === flag.id ? constant(each, value) : each))
      choose(rest, { ...fixed, flags }, { ...chosen, [flag.key]: value })
    }
  }
  choose(order, definitions, {})
  return combinations
}

/** The same flag with one value for everyone. */
function constant(flag: FlagDefinition, value: FlagValue): FlagDefinition {
  const variants = typeof value === 'string' ? [{ key: value, rollout_percentage: 100 }] : []
  const filters = { groups: value === false ? [] : [{ properties: [] }], multivariate: { variants } }
  return { id: flag.id, key: flag.key, active: true, filters }
}

/** So that a choice narrows down what depends on it. */
function dependenciesFirst(definitions: Definitions): FlagDefinition[] {
  const { flags } = compile(definitions, noMatch)
  const byReference = new Map(flags.flatMap(flag => [[String(flag.id), flag] as const, [flag.key, flag] as const]))
  const ordered = new Set<(typeof flags)[number]>()
  const visit = (flag: (typeof flags)[number], path: readonly (typeof flags)[number][]): void => {
    if (ordered.has(flag) || path.includes(flag)) return
    for (const reference of flag.references) {
      const target = byReference.get(reference)
      if (target) visit(target, [...path, flag])
    }
    ordered.add(flag)
  }
  for (const flag of flags) visit(flag, [])
  return [...ordered].map(({ definition }) => definition)
}

/** The document that servers and SDKs exchange, as the engine reads it. */
function definitionsOf({ flags, cohorts, group_type_mapping }: DefinitionsDocument): Definitions {
  return {
    flags: (flags as readonly WireFlag[]).map(({ id, key, active, filters }) => ({ id, key, active, filters })),
    cohorts: Object.entries(cohorts ?? {}).map(([id, tree]) => ({ id: Number(id), isStatic: false, filters: tree })),
    groupTypes: group_type_mapping ?? {},
    propertyMatchingVersion: 2,
  }
}

interface WireFlag {
  readonly id: number
  readonly key: string
  readonly active: boolean
  readonly filters: unknown
}
