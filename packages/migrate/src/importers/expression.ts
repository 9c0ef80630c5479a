import type { Bucketing, CohortGroup, Property } from '../model/model.ts'
import type { Verdict } from './verdict.ts'

/** What a rule of another service asks of a person, before it becomes conditions or a cohort. */
export type Expression =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Expression[] }
  | { readonly kind: 'not'; readonly of: Expression }
  | { readonly kind: 'filter'; readonly filter: Property }
  | { readonly kind: 'rollout'; readonly rollout: Rollout }

export interface Rollout {
  readonly percentage: number
  readonly bucketing: Bucketing
  /** The group type whose members are counted; people by default. */
  readonly groupType?: string | undefined
  /** Everyone outside of the percentage. */
  readonly isOpposite?: boolean
}

export const all = (of: readonly Expression[]): Expression => ({ kind: 'all', of })
export const any = (of: readonly Expression[]): Expression => ({ kind: 'any', of })
export const not = (of: Expression): Expression => ({ kind: 'not', of })
export const always: Expression = all([])
export const never: Expression = any([])
export const filter = (of: Property): Expression => ({ kind: 'filter', filter: of })
export const person = (key: string, operator: string, value: unknown, more: Partial<Property> = {}): Expression =>
  filter({ key, type: 'person', operator, value, ...more })

/** One alternative: everyone who matches all filters, within the rollout. */
export interface Conjunction {
  readonly properties: readonly Property[]
  readonly rollout: Rollout | null
}

const alternativesMax = 64

/** The alternatives of which at least one must hold, in disjunctive normal form. */
export function alternativesOf(expression: Expression, verdict: Verdict, path: string): Conjunction[] {
  const alternatives = expand(expression, false, verdict, path)
  return alternatives.filter((conjunction, at) => {
    const text = JSON.stringify(conjunction)
    return alternatives.findIndex(other => JSON.stringify(other) === text) === at
  })
}

function expand(expression: Expression, isNegated: boolean, verdict: Verdict, path: string): Conjunction[] {
  switch (expression.kind) {
    case 'filter':
      return [{ properties: [isNegated ? inverted(expression.filter) : expression.filter], rollout: null }]
    case 'rollout':
      return [
        { properties: [], rollout: isNegated ? oppositeOf(expression.rollout, verdict, path) : expression.rollout },
      ]
    case 'not':
      return expand(expression.of, !isNegated, verdict, path)
    default: {
      const parts = expression.of.map(part => expand(part, isNegated, verdict, path))
      const isConjunction = (expression.kind === 'all') !== isNegated
      const alternatives = isConjunction ? product(parts, verdict, path) : parts.flat()
      if (alternatives.length > alternativesMax) tooMany(verdict, path)
      return alternatives
    }
  }
}

/** Positions from the threshold on, where the threshold itself is not included in the percentage. */
function oppositeOf(rollout: Rollout, verdict: Verdict, path: string): Rollout {
  if (rollout.bucketing.algorithm === 'launchdarkly') return { ...rollout, isOpposite: rollout.isOpposite !== true }
  return verdict.refuse('A rule for everyone outside of a percentage cannot be written; turn the rule around.', path)
}

const tooMany = (verdict: Verdict, path: string): never =>
  verdict.refuse(`The rule has more than ${alternativesMax} alternatives; split it into several rules.`, path)

function product(parts: readonly Conjunction[][], verdict: Verdict, path: string): Conjunction[] {
  let alternatives: Conjunction[] = [{ properties: [], rollout: null }]
  for (const part of parts) {
    if (alternatives.length * part.length > alternativesMax) tooMany(verdict, path)
    alternatives = alternatives.flatMap(left =>
      part.map(right => ({
        properties: [...left.properties, ...right.properties],
        rollout: oneRollout(left.rollout, right.rollout, verdict, path),
      })),
    )
  }
  return alternatives
}

function oneRollout(left: Rollout | null, right: Rollout | null, verdict: Verdict, path: string): Rollout | null {
  if (left !== null && right !== null)
    return verdict.refuse('A rule can have one percentage; keep one of the two.', path)
  return left ?? right
}

function inverted(property: Property): Property {
  const { inverted: was, ...rest } = property
  return was === true ? rest : { ...rest, inverted: true }
}

/** Matches no one. */
const noOne: Property = { key: 'distinct_id', type: 'person', operator: 'text_equals', value: [] }

/** The tree of a cohort. A group has either groups or filters, so filters beside groups get groups of their own. */
export function cohortTreeOf(expression: Expression, verdict: Verdict, path: string): CohortGroup {
  const tree = treeOf(expression, false, verdict, path)
  return 'values' in tree ? (tree as CohortGroup) : { type: 'AND', values: [tree as Property] }
}

function treeOf(expression: Expression, isNegated: boolean, verdict: Verdict, path: string): CohortGroup | Property {
  switch (expression.kind) {
    case 'filter':
      return negatedInCohort(expression.filter, isNegated)
    case 'rollout':
      return verdict.refuse('Cohorts have no percentages; move the percentage to the flag.', path)
    case 'not':
      return treeOf(expression.of, !isNegated, verdict, path)
    default: {
      const isConjunction = (expression.kind === 'all') !== isNegated
      if (expression.of.length === 0 && !isConjunction) return noOne
      const members = expression.of.map(part => treeOf(part, isNegated, verdict, path))
      const hasGroups = members.some(member => 'values' in member)
      const values = members.map((member): CohortGroup | Property =>
        hasGroups && !('values' in member) ? { type: 'AND', values: [member as Property] } : member,
      )
      return { type: isConjunction ? 'AND' : 'OR', values }
    }
  }
}

/** Within a cohort `negation` inverts, in a condition `inverted` does. */
function negatedInCohort({ inverted: was, ...rest }: Property, isNegated: boolean): Property {
  const property = rest as Property
  return (was === true) === isNegated ? property : { ...property, negation: true }
}
