import type { EvaluationReason } from '@halyard/contract'
import type { Outcome, Trace } from '@halyard/engine'

/** PostHog's reason for an inactive flag here differs from the one in SDK responses. */
const reasonNames: Partial<Record<Outcome['reason']['code'], string>> = { flag_disabled: 'disabled' }

export const reasonToWire = ({ value, reason }: Outcome, trace: Trace | undefined): EvaluationReason => ({
  value,
  evaluation: {
    reason: reasonNames[reason.code] ?? reason.code,
    condition_index: reason.conditionIndex,
    description: reason.description,
  },
  ...(trace && { trace: traceToWire(trace) as Record<string, unknown> }),
})

/** These hold user data, which is not renamed. */
const opaqueFields = new Set(['value', 'seen', 'expected', 'payload'])

/** The engine's trace with its names in snake case. */
function traceToWire(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(traceToWire)
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([name, value]) => [
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      opaqueFields.has(name) ? value : traceToWire(value),
    ]),
  )
}
