import type { FlagWrite } from '@halyard/contract'
import type { Flag, FlagPatch, FreeObject } from '../../../domain/flag.ts'
import { type Instant, parseInstant } from '../../../instant.ts'
import { invalid, Problem } from '../../../problem.ts'
import { patchFromWire } from '../../flags/flag-resource.ts'
import { conditionIdentity, findRampCondition, isObject, type RampTarget, rampBroken } from './ramp-condition.ts'

/** The parsed payload of a scheduled change. */
export type Operation =
  | { readonly kind: 'update'; readonly patch: FlagPatch }
  | { readonly kind: 'add_condition'; readonly groups: readonly unknown[] }
  | ({ readonly kind: 'ramp'; readonly steps: readonly RampStep[] } & RampTarget)

export interface RampStep {
  readonly at: Instant
  readonly percentage: number
}

const rampStepsMax = 100

/** Throws `invalid` (`payload`). The fields of an `update` have already been validated against the contract. */
export function readOperation(payload: FreeObject): Operation {
  const { operation, value } = payload
  switch (operation) {
    case 'update':
      if (!isObject(value)) throw wrong('the value of update must be an object with flag fields.')
      return { kind: 'update', patch: patchFromWire(value as FlagWrite) }
    case 'update_status':
      if (typeof value !== 'boolean') throw wrong('the value of update_status must be true or false.')
      return { kind: 'update', patch: { active: value } }
    case 'add_release_condition':
      if (!isObject(value) || !Array.isArray(value.groups) || value.groups.length === 0) {
        throw wrong('the value of add_release_condition must be an object with a list of groups.')
      }
      return { kind: 'add_condition', groups: value.groups }
    case 'ramp':
      return readRamp(value)
    default:
      throw wrong('unknown operation.')
  }
}

function readRamp(value: unknown): Operation {
  if (!isObject(value) || !Array.isArray(value.steps) || value.steps.length === 0) {
    throw wrong('the value of ramp must be an object with a list of steps.')
  }
  const { condition_index: conditionIndex = 0, condition, steps } = value
  if (!Number.isSafeInteger(conditionIndex) || (conditionIndex as number) < 0) {
    throw wrong('condition_index must be the zero-based index of a condition.')
  }
  if (steps.length > rampStepsMax) throw wrong(`a ramp can have at most ${rampStepsMax} steps.`)
  const read = steps.map(readStep)
  for (const [n, step] of read.entries()) {
    const before = read[n - 1]
    if (before && (step.at <= before.at || step.percentage < before.percentage)) {
      throw wrong('steps must be in ascending order of time, and percentages must not decrease.')
    }
  }
  const identity = isObject(condition) ? conditionIdentity(condition) : undefined
  return { kind: 'ramp', conditionIndex: conditionIndex as number, identity, steps: read }
}

function readStep(step: unknown): RampStep {
  const { at, rollout_percentage: percentage } = isObject(step) ? step : {}
  const instant = typeof at === 'string' ? parseInstant(at) : undefined
  if (instant === undefined) throw wrong('each step requires `at`, an ISO 8601 date-time.')
  if (typeof percentage !== 'number' || !(percentage >= 0 && percentage <= 100)) {
    throw wrong('each step requires `rollout_percentage`, a number from 0 to 100.')
  }
  return { at: instant, percentage }
}

/** The change cannot succeed, now or later. */
export class NonRetryableError extends Problem {
  constructor(message: string) {
    super('invalid', message)
  }
}

/** The patch for the current state of the flag. Throws `invalid` when it does not apply, `NonRetryableError` when it never will. */
export function patchFor(operation: Operation, flag: Flag, now: Instant): FlagPatch {
  if (flag.deleted && !(operation.kind === 'update' && operation.patch.deleted === false)) {
    throw new NonRetryableError('The flag has been deleted.')
  }
  if (operation.kind === 'update') return operation.patch
  const groups = conditionsOf(flag)
  if (operation.kind === 'add_condition')
    return { filters: { ...flag.filters, groups: [...groups, ...operation.groups] } }
  if (flag.performedRollback)
    throw new NonRetryableError('The flag was rolled back; its rollout is not increased further.')
  if (!flag.active) throw invalid('payload', 'invalid_input', 'The flag is off; the step waits until it is on.')
  return increase(flag, groups, operation, operation.steps.findLast(step => step.at <= now)?.percentage ?? 0)
}

/** The patch of the last step of a ramp. */
export const raised = (ramp: Ramp, flag: Flag): FlagPatch =>
  increase(flag, conditionsOf(flag), ramp, ramp.steps.at(-1)?.percentage ?? 0)

type Ramp = Extract<Operation, { kind: 'ramp' }>

/** A ramp never lowers a rollout, whatever was changed since it was planned: users who have the feature retain it. */
function increase(flag: Flag, groups: readonly unknown[], ramp: Ramp, target: number): FlagPatch {
  const index = findRampCondition(groups, ramp)
  const condition = index === undefined ? undefined : groups[index]
  if (!isObject(condition)) throw new NonRetryableError(rampBroken)
  if (target <= rolloutOf(condition)) return {}
  const changed = groups.map((group, n) => (n === index ? { ...condition, rollout_percentage: target } : group))
  return { filters: { ...flag.filters, groups: changed } }
}

/** Without a rollout, a condition applies to everyone it matches. */
export const rolloutOf = ({ rollout_percentage: rollout }: FreeObject): number =>
  typeof rollout === 'number' ? rollout : 100

/** Where the condition of a pending ramp is now, and why the ramp can no longer be applied when there is none. */
export function rampState(
  payload: FreeObject,
  flag: Pick<Flag, 'filters'>,
): { readonly position: number | null; readonly brokenReason: string | null } {
  if (payload.operation !== 'ramp') return { position: null, brokenReason: null }
  const operation = readOperation(payload)
  const position = operation.kind === 'ramp' ? findRampCondition(conditionsOf(flag), operation) : undefined
  return position === undefined ? { position: null, brokenReason: rampBroken } : { position, brokenReason: null }
}

export const conditionsOf = (flag: Pick<Flag, 'filters'>): readonly unknown[] => {
  const { groups } = flag.filters
  return Array.isArray(groups) ? groups : []
}

const wrong = (what: string): Problem => invalid('payload', 'invalid_input', `payload: ${what}`)
