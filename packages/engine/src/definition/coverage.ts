import { isRecord } from './json.ts'

/** The conditions of a flag in short, for lists and sentences. */
export interface Coverage {
  readonly kind: 'no_one' | 'everyone' | 'rollout' | 'conditions'
  /** Conditions with a rollout above 0, and the smallest and largest of their percentages. */
  readonly conditions: number
  readonly from: number
  readonly to: number
}

/** Lenient: anything missing or of another shape is read as absent. */
export function coverageOf(filters: Readonly<Record<string, unknown>>): Coverage {
  const open = conditionsIn(filters).filter(({ rollout }) => rollout > 0)
  const rollouts = open.map(({ rollout }) => rollout)
  const [from, to] = rollouts.length === 0 ? [0, 0] : [least(rollouts), -least(rollouts.map(value => -value))]
  return { kind: kindOf(open), conditions: open.length, from, to }
}

interface OpenCondition {
  readonly isForAll: boolean
  readonly rollout: number
}

function kindOf(open: readonly OpenCondition[]): Coverage['kind'] {
  if (open.length === 0) return 'no_one'
  if (open.some(({ isForAll, rollout }) => isForAll && rollout === 100)) return 'everyone'
  return open.length === 1 && open[0]?.isForAll ? 'rollout' : 'conditions'
}

const conditionsIn = ({ groups }: Readonly<Record<string, unknown>>): OpenCondition[] =>
  Array.isArray(groups)
    ? groups.filter(isRecord).map(({ properties, rollout_percentage: rollout }) => ({
        isForAll: !Array.isArray(properties) || properties.filter(isRecord).length === 0,
        rollout: typeof rollout === 'number' ? rollout : 100,
      }))
    : []

/** `Math.min` of thousands of arguments would exhaust the stack. */
const least = (values: readonly number[]): number => values.reduce((a, b) => (b < a ? b : a))
