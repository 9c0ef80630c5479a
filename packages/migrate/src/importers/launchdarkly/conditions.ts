import type { Condition, Property, Split } from '../../model/model.ts'
import { alternativesOf, type Conjunction, type Expression } from '../expression.ts'
import type { Verdict } from '../verdict.ts'
import type { Rollout, Served } from './rollout.ts'

/** What a condition has for a variation: a variant, or off. A boolean flag needs nothing to be on. */
export type Outcomes = (variation: number) => { readonly variant: string } | { readonly value: boolean }

export interface ServedRule {
  readonly when: Expression
  readonly serve: Served
  readonly path: string
  readonly description: string
}

/** Writes the rules of a flag as conditions, of which the first that includes a person decides. */
export class LaunchDarklyConditions {
  readonly #outcomeOf: Outcomes
  readonly #verdict: Verdict

  constructor(outcomeOf: Outcomes, verdict: Verdict) {
    this.#outcomeOf = outcomeOf
    this.#verdict = verdict
  }

  ofRule({ when, serve, path, description }: ServedRule): Condition[] {
    return alternativesOf(when, this.#verdict, path).flatMap(alternative =>
      this.#served(alternative, serve, path).map(condition => ({
        ...condition,
        ...(description !== '' && { description }),
      })),
    )
  }

  #served(alternative: Conjunction, serve: Served, path: string): Condition[] {
    const { properties, rollout } = alternative
    if ('rollout' in serve) {
      return rollout === null
        ? this.#shares(properties, serve.rollout)
        : [this.#splitWithin({ properties, rollout }, serve.rollout, path)]
    }
    const outcome = this.#outcomeOf(serve.variation)
    if (rollout === null) return [{ properties: [...properties], rollout_percentage: 100, ...conditionOf(outcome) }]
    const { percentage, bucketing, groupType, isOpposite } = rollout
    const shared = { properties: [...properties], ...aggregation(groupType) }
    if (!isOpposite) return [{ ...shared, rollout_percentage: percentage, bucketing, ...conditionOf(outcome) }]
    const split: Split = { bucketing, variants: [{ ...outcome, range: [percentage / 100, 1] }] }
    return [{ ...shared, rollout_percentage: 100, split }]
  }

  /** Conditions with the same filters and the same bucket, each with the sum of the shares up to its end. */
  #shares(properties: readonly Property[], { bucketing, groupType, shares }: Rollout): Condition[] {
    const conditions = shares.flatMap(({ variation, upTo }): Condition[] => {
      if (upTo === 0) return []
      return [
        {
          properties: [...properties],
          rollout_percentage: upTo ?? 100,
          ...(upTo !== null && { bucketing }),
          ...aggregation(groupType),
          ...conditionOf(this.#outcomeOf(variation)),
        },
      ]
    })
    if (groupType === undefined) return conditions
    // Conditions about a group skip people without one, whose bucket is 0.
    const first = shares.find(({ upTo }) => upTo !== 0)!
    const outcome = conditionOf(this.#outcomeOf(first.variation))
    return [...conditions, { properties: [...properties], rollout_percentage: 100, ...outcome }]
  }

  /** A percentage of people, divided by another bucket. */
  #splitWithin(
    {
      properties,
      rollout,
    }: { readonly properties: readonly Property[]; readonly rollout: NonNullable<Conjunction['rollout']> },
    { bucketing, groupType, shares }: Rollout,
    path: string,
  ): Condition {
    if (rollout.isOpposite) {
      return this.#verdict.refuse(
        "A rollout for those outside of a segment's percentage cannot be written; serve one variation.",
        path,
      )
    }
    if (rollout.groupType !== groupType) {
      return this.#verdict.refuse(
        'The rollout and a segment take percentages of different kinds; use the same kind.',
        path,
      )
    }
    const variants = shares.map(({ variation, weight }) => ({ ...this.#outcomeOf(variation), weight }))
    return {
      properties: [...properties],
      rollout_percentage: rollout.percentage,
      bucketing: rollout.bucketing,
      split: { bucketing, variants },
      ...aggregation(groupType),
    }
  }
}

const aggregation = (groupType: string | undefined): Partial<Condition> =>
  groupType === undefined ? {} : { aggregation_group_type_index: groupType }

const conditionOf = (outcome: ReturnType<Outcomes>): Pick<Condition, 'variant' | 'value'> => {
  if ('variant' in outcome) return { variant: outcome.variant }
  return outcome.value ? {} : { value: false }
}
