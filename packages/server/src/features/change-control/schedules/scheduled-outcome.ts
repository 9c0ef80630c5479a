import { applyPatch, type Flag, type FreeObject } from '../../../domain/flag.ts'
import type { Action, Impact, ProposedChange } from '../../../domain/policy.ts'
import type { Instant } from '../../../instant.ts'
import { type DependentGain, proposedFlagChange } from '../flag-change.ts'
import { patchFor, raised, readOperation } from './operation.ts'

export interface ScheduledOutcome {
  readonly stored: Flag
  readonly flag: Flag
  /** Switched on and off again. */
  readonly isPair: boolean
}

/** What a scheduled change makes of the flag in the end, for those who decide about it today. */
export function scheduledOutcome(
  flag: Flag,
  { payload, isPair, at }: { readonly payload: FreeObject; readonly isPair: boolean; readonly at: Instant },
): ScheduledOutcome {
  const operation = readOperation(payload)
  const patch = operation.kind === 'ramp' ? raised(operation, flag) : patchFor(operation, flag, at)
  // Whether the flag is on or off at that time is unknown, so the switch counts as a change.
  const stored = patch.active === undefined ? flag : { ...flag, active: !patch.active }
  return { stored, flag: applyPatch(flag, patch), isPair }
}

/** What policies see of it. */
export function proposedSchedule(
  { stored, flag, isPair }: ScheduledOutcome,
  seen: {
    readonly isByKey: boolean
    readonly impact: Impact | undefined
    readonly dependents: readonly DependentGain[]
  },
): ProposedChange {
  const change = proposedFlagChange({ stored, flag, ...seen })
  const both: readonly Action[] = isPair ? ['feature_flag.enable', 'feature_flag.disable'] : []
  return { ...change, actions: new Set([...change.actions, ...both]) }
}
