import type { Authorization } from '../../domain/authorization.ts'
import type { Flag } from '../../domain/flag.ts'
import type { Stores } from '../../stores.ts'
import { createUsageDashboard } from './create-usage-dashboard.ts'
import { isUnchanged, type PlannedFlag } from './plan-flag.ts'
import { type FlagRecord, recordFlag } from './record-flag.ts'
import { savePayloadSchema } from './schemas/set-payload-schema.ts'

/**
 * Saves a planned flag with its version, activity entry and change. Raises `invalid` for a taken key, and `StaleWrite` when another
 * transaction saved the flag first.
 */
export async function commitFlag(tx: Stores, planned: PlannedFlag, authorization: Authorization): Promise<Flag> {
  const { project, author, record, payloadSchema, at } = planned
  const flag = await saveFlag(tx, planned, authorization)
  if (!isUnchanged(planned)) await recordFlag(tx, author, project, flag, withGrounds(record, authorization), at)
  if (payloadSchema !== undefined) await savePayloadSchema(tx, author, project, flag, payloadSchema, at)
  return flag
}

async function saveFlag(tx: Stores, planned: PlannedFlag, authorization: Authorization): Promise<Flag> {
  const { stored, flag, at } = planned
  if (stored) {
    const saved = { ...flag, id: stored.id }
    if (!isUnchanged(planned)) await tx.flags.save(saved, authorization)
    return saved
  }
  const dashboard = await createUsageDashboard(tx, flag, at)
  const created = await tx.flags.create({ ...flag, usageDashboardId: dashboard.id }, authorization)
  await tx.dashboards.setFlag(dashboard.id, created.id)
  return created
}

export const withGrounds = (record: FlagRecord, { trigger }: Authorization): FlagRecord =>
  trigger ? { ...record, trigger: { ...record.trigger, ...trigger } } : record
