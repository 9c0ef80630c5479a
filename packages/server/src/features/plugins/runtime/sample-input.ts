import type { TrialInput } from './try-plugin.ts'

const at = '2026-01-31T12:00:00.000000Z'

const flag = (changes: object = {}) => ({
  key: 'new-checkout',
  name: 'The new checkout',
  filters: { groups: [{ properties: [], rollout_percentage: 10 }] },
  deleted: false,
  active: true,
  created_at: at,
  ensure_experience_continuity: false,
  rollback_conditions: {},
  performed_rollback: false,
  tags: ['owner:payments'],
  analytics_dashboards: [],
  has_enriched_analytics: false,
  ...changes,
})
const wider = { filters: { groups: [{ properties: [], rollout_percentage: 50 }] } }
const user = { email: 'dana@example.com', first_name: 'Dana' }

/** The default input of a trial run. */
export const sampleInput: TrialInput = {
  config: {},
  events: [
    event('$pageview', { $current_url: 'https://example.com/pricing', $browser: 'Firefox' }),
    event('user signed up', { plan: 'team', nested: { seats: 5 } }),
  ],
  flags: [
    { id: null, project_id: 1, ...flag({ tags: [] }), previous: null, user },
    { id: 7, project_id: 1, ...flag(wider), previous: flag(), user },
  ],
  flagChanges: [
    {
      project_id: 1,
      flag_id: 7,
      key: 'new-checkout',
      version: 1,
      action: 'created',
      before: null,
      after: flag(),
      changes: [],
      user,
      at,
    },
    {
      project_id: 1,
      flag_id: 7,
      key: 'new-checkout',
      version: 2,
      action: 'updated',
      before: flag(),
      after: flag(wider),
      changes: [{ field: 'filters', before: flag().filters, after: wider.filters }],
      user,
      at,
    },
  ],
}

function event(name: string, properties: object) {
  const uuid = '0190a5f4-0000-7000-8000-000000000001'
  return { uuid, event: name, distinct_id: 'user-1', ip: '203.0.113.7', team_id: 1, now: at, timestamp: at, properties }
}
