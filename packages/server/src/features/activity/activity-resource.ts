import type { ActivityEntry as ActivityWire } from '@halyard/contract'
import type { ActivityEntry } from '../../domain/activity.ts'

export const activityToWire = (entry: ActivityEntry): ActivityWire => ({
  id: entry.id,
  user: entry.user
    ? { id: entry.user.id, first_name: entry.user.firstName, email: entry.user.email }
    : { first_name: 'System', email: null, is_system: true },
  activity: entry.activity,
  scope: entry.scope,
  item_id: entry.itemId,
  detail: {
    name: entry.detail.name,
    short_id: null,
    type: null,
    changes: entry.detail.changes.map(change => ({ type: entry.scope, ...change })),
    trigger: entry.detail.trigger,
  },
  through: entry.keyLabel,
  created_at: entry.createdAt,
})
