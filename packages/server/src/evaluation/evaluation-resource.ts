import type { EvaluationReason } from '@halyard/contract'
import type { Outcome, Trace } from '@halyard/engine'

/** An inactive flag is told as PostHog tells it here, which is not how it is told to client libraries. */
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

/** What these hold is somebody's own data and stays as it is. */
const opaqueFields = new Set(['value', 'seen', 'expected', 'payload'])

/** The trace is plain data of the engine; only its names change. */
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
