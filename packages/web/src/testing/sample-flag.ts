import type { Flag, FlagSummary } from '@halyard/contract'
import { summaryOf } from '../flags/flag-summary.ts'

const base: Flag = {
  id: 1,
  name: '',
  key: 'flag-1',
  filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
  deleted: false,
  archived: false,
  active: true,
  created_by: { id: 1, uuid: '0', distinct_id: 'ada', first_name: 'Ada', email: 'ada@example.com' },
  created_at: '2026-01-01T00:00:00.000Z',
  is_simple_flag: true,
  rollout_percentage: 100,
  ensure_experience_continuity: false,
  experiment_set: '',
  surveys: {},
  features: {},
  rollback_conditions: {},
  performed_rollback: false,
  can_edit: true,
  tags: [],
  usage_dashboard: 1,
  analytics_dashboards: [],
  has_enriched_analytics: false,
  version: 1,
} as unknown as Flag

/** A flag for unit tests; `created_at` follows the id, as in a real list. */
export function sampleFlag(fields: Partial<Flag> = {}): Flag {
  const id = fields.id ?? 1
  const created_at = new Date(Date.UTC(2026, 0, 1) + id * 60_000).toISOString()
  return { ...base, key: `flag-${id}`, created_at, bucketing_identifier: null, evaluation_runtime: null, ...fields }
}

/** The same flag as a list has it. */
export const sampleSummary = (fields: Partial<Flag> = {}): FlagSummary => summaryOf(sampleFlag(fields))
