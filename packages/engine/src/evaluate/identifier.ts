import type { Plan } from '../compile/plan.ts'
import { own, toText } from '../definition/json.ts'
import { PERSON, type Run } from './run.ts'

/** The identifier that is hashed with the flag's key. */
export function identifierOf(run: Run, plan: Plan, entity: number): string {
  if (entity !== PERSON) return run.identifierOf(entity)
  if (plan.byDevice) {
    const deviceId = deviceIdOf(run)
    if (deviceId !== undefined) return deviceId
  }
  return plan.continuity ? continuousId(run, plan) : run.distinctId
}

export function deviceIdOf({ subject, entityProperties }: Run): string | undefined {
  const deviceId = subject.deviceId || own(entityProperties[PERSON]!, '$device_id')
  const isId = typeof deviceId === 'number' || (typeof deviceId === 'string' && deviceId !== '')
  return isId ? String(deviceId) : undefined
}

/** Experience continuity: a person keeps the variant from before signing in. */
function continuousId({ subject, distinctId }: Run, { key }: Plan): string {
  const stored = subject.hashKeyOverrides ? own(subject.hashKeyOverrides, key) : undefined
  if (typeof stored === 'string') return stored
  return subject.anonDistinctId ? toText(subject.anonDistinctId) : distinctId
}
