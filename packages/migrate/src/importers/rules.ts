import type { Bucketing, Condition, FlagFilters, Split } from '../model/model.ts'
import { alternativesOf, type Conjunction, type Expression } from './expression.ts'
import { type Variations, variationsOf } from './variations.ts'
import type { Verdict } from './verdict.ts'

/** A result: off, on without a value of its own, or the index of one of the flag's values. */
export type Result = 'off' | 'on' | number

export interface SplitRule {
  readonly bucketing: Bucketing
  readonly parts: readonly ({ readonly result: Result } & (
    | { readonly weight: number }
    | { readonly range: readonly [number, number] }
  ))[]
}

/** The first rule that includes a person decides, as the first condition of a flag does. */
export interface Rule {
  readonly when: Expression
  readonly serve: Result | SplitRule
  readonly path: string
  readonly description?: string
}

/** The values of a flag: booleans are on and off, everything else are variants. */
export interface FlagValues {
  readonly values: readonly { readonly value: unknown; readonly name?: string }[]
  /** Booleans are values beside on and off, so that they become variants as well. */
  readonly hasOwnSwitch?: boolean
}

export const isBooleanFlag = ({ values, hasOwnSwitch = false }: FlagValues): boolean =>
  values.length === 0 || (!hasOwnSwitch && values.every(({ value }) => typeof value === 'boolean'))

/** What a dependency on the flag names for one of its values. */
export function resultOf(flag: FlagValues, index: number): boolean | string {
  if (isBooleanFlag(flag)) return flag.values[index]!.value === true
  return variationsOf(flag.values).keys[index]!
}

/** For services whose variants have names of their own and whose clients are OpenFeature's. */
export function compareVariants(flag: FlagValues, path: string, verdict: Verdict): void {
  const variations = isBooleanFlag(flag) ? null : variationsOf(flag.values)
  const { payloads = {}, return_type: type } = variations?.filters(0) ?? {}
  if (Object.keys(payloads).length > 0 && type === undefined) {
    verdict.differs(
      'OpenFeature gets the key of a variant whose text cannot be a key; give all variants texts that can.',
      path,
    )
  }
  const keys = variations?.keys ?? flag.values.map(({ value }) => (value === true ? 'on' : 'off'))
  const at = flag.values.findIndex(({ name }, index) => name !== keys[index])
  if (at === -1) return
  const [here, there] = [keys[at]!, flag.values[at]!.name ?? ''].map(text => text.slice(0, 60))
  verdict.note(`Variants have the names of their values here: OpenFeature reports "${here}", not "${there}".`, path)
}

export function filtersOf(flag: FlagValues, rules: readonly Rule[], verdict: Verdict): FlagFilters {
  const variations = isBooleanFlag(flag) ? null : variationsOf(flag.values)
  const writer = new ConditionWriter(flag, variations)
  const groups = rules.flatMap(rule =>
    alternativesOf(rule.when, verdict, rule.path).map(conjunction => writer.condition(conjunction, rule)),
  )
  return { groups: withoutTrailingOff(groups), ...variations?.filters(0) }
}

/** Whatever the identifier, everyone is on. */
const everyoneOn: Split = { bucketing: { algorithm: 'posthog' }, variants: [{ value: true, weight: 1 }] }

class ConditionWriter {
  readonly #flag: FlagValues
  readonly #variations: Variations | null

  constructor(flag: FlagValues, variations: Variations | null) {
    this.#flag = flag
    this.#variations = variations
  }

  condition({ properties, rollout }: Conjunction, { serve, description }: Rule): Condition {
    return {
      properties: [...properties],
      rollout_percentage: rollout === null ? null : rollout.percentage,
      ...(rollout !== null && { bucketing: rollout.bucketing }),
      ...(typeof serve === 'object' ? { split: this.#split(serve) } : this.#served(serve)),
      ...(description !== undefined && description !== '' && { description }),
    }
  }

  #split({ bucketing, parts }: SplitRule): Split {
    const variants = parts.map(({ result, ...share }) => {
      const value = this.#valueOf(result)
      return typeof value === 'string' ? { variant: value, ...share } : { value, ...share }
    })
    return { bucketing, variants }
  }

  #served(result: Result): Pick<Condition, 'variant' | 'value' | 'split'> {
    const value = this.#valueOf(result)
    if (typeof value === 'string') return { variant: value }
    if (!value) return { value: false }
    return this.#variations === null ? {} : { split: everyoneOn }
  }

  #valueOf(result: Result): boolean | string {
    if (typeof result !== 'number') return result === 'on'
    return this.#variations === null ? this.#flag.values[result]!.value === true : this.#variations.keys[result]!
  }
}

/** Without a matching condition a flag is off anyway. */
function withoutTrailingOff(groups: readonly Condition[]): Condition[] {
  return groups.slice(0, groups.findLastIndex(({ value }) => value !== false) + 1)
}
