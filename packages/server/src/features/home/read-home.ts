import {
  flagUsageDays,
  type HomeChange,
  type HomeRequest,
  homeChangesMax,
  homeEntriesMax,
  type ProjectHome,
} from '@halyard/contract'
import type { ActivityEntry } from '../../domain/activity.ts'
import type { ChangeRequest } from '../../domain/change-request.ts'
import type { Flag } from '../../domain/flag.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { waitingFor } from '../change-control/requests/waiting-requests.ts'
import { freezesOf, scheduleToWire } from '../change-control/schedules/schedule-resource.ts'
import type { ScheduledChange } from '../change-control/schedules/scheduled-change.ts'
import { dayOf } from '../events/usage/usage.ts'
import { readFlagFilter } from '../flags/flag-filter.ts'
import { userToWire } from '../identity/user-resource.ts'
import type { MostCalled } from './most-called.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000
const firstEntries = { limit: homeEntriesMax, offset: 0 }

interface Context {
  readonly actor: Actor
  readonly project: Project
  /** The flags that are served. */
  readonly live: readonly Flag[]
  readonly mostCalled: MostCalled
  readonly now: Instant
}

export async function readHome(tx: Stores, context: Context): Promise<ProjectHome> {
  const { actor, project, live, now } = context
  const stale = await tx.flags.list(project.id, readFlagFilter({ active: 'STALE' }, now), { limit: 1, offset: 0 })
  const conflicted = { requesterId: actor.user.id, states: ['conflicted'] as const }
  const about = { organizationId: project.organizationId, projectId: project.id, scopes: ['FeatureFlag'] as const }
  const activity = await tx.activity.list(about, { limit: homeChangesMax, offset: 0 })
  const rolledBack = live.filter(flag => flag.performedRollback).sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
  return {
    flags: { total: live.length, active: live.filter(({ active }) => active).length, stale: stale.count },
    is_connected: await isConnected(tx, project.id),
    waiting: requestsToWire(await waitingFor(tx, actor, project, {}, firstEntries)),
    conflicts: requestsToWire(await tx.changeRequests.list(project.id, conflicted, firstEntries)),
    upcoming: await readUpcoming(tx, context),
    rolled_back: {
      count: rolledBack.length,
      results: rolledBack
        .slice(0, homeEntriesMax)
        .map(({ id, key, updatedAt }) => ({ id, key, updated_at: updatedAt })),
    },
    changes: activity.items.map(changeToWire),
    most_evaluated: await readMostEvaluated(tx, context),
  }
}

const isConnected = async (tx: Stores, projectId: number): Promise<boolean> =>
  (await tx.sdkUsage.list(projectId)).length > 0 || (await tx.usage.hasCalls(projectId))

const requestsToWire = ({ count, items }: { readonly count: number; readonly items: readonly ChangeRequest[] }) => ({
  count,
  results: items.map(
    ({ id, title, state, requester, createdAt }): HomeRequest => ({
      id,
      title,
      state,
      created_by: userToWire(requester),
      created_at: createdAt,
    }),
  ),
})

async function readUpcoming(tx: Stores, { project, live }: Context): Promise<ProjectHome['upcoming']> {
  const next = await tx.schedules.listNext(project.id, homeEntriesMax)
  const frozenAt = await freezesOf(tx, project)
  const results = next.flatMap(change => {
    const flag = live.find(({ id }) => id === change.flagId)
    if (!flag) return []
    const wire = scheduleToWire({ ...change, payload: shortPayload(change) }, flag, frozenAt(change, flag))
    return [{ flag_id: flag.id, flag_key: flag.key, change: wire }]
  })
  return { count: await tx.schedules.countPending(project.id), results }
}

/** Values of an update can be large; steps and rollouts are what is shown. */
function shortPayload({ payload }: ScheduledChange): ScheduledChange['payload'] {
  const { operation, value } = payload as { operation?: unknown; value?: unknown }
  if (operation === 'ramp' || operation === 'update_status') return payload
  const { groups } = (value ?? {}) as { groups?: unknown }
  if (operation !== 'add_release_condition' || !Array.isArray(groups)) return { operation }
  return { operation, value: { groups: groups.map(group => ({ rollout_percentage: group?.rollout_percentage })) } }
}

function changeToWire({ id, activity, itemId, detail, user, createdAt }: ActivityEntry): HomeChange {
  const active = detail.changes.find(({ field, action }) => field === 'active' && action === 'changed')?.after
  return {
    id,
    activity,
    flag_id: itemId,
    name: detail.name,
    fields: detail.changes.map(({ field }) => field).filter(field => field !== null),
    active: typeof active === 'boolean' ? active : null,
    by: user && userToWire(user),
    at: createdAt,
  }
}

async function readMostEvaluated(tx: Stores, { project, live, mostCalled, now }: Context) {
  const ranked = await mostCalled(tx, project.id, now)
  const wanted = new Set(ranked)
  const flagOf = new Map(live.filter(({ key }) => wanted.has(key)).map(flag => [flag.key, flag]))
  const keys = ranked.filter(key => flagOf.has(key)).slice(0, homeEntriesMax)
  const days = Array.from({ length: flagUsageDays }, (_, n) =>
    dayOf(plusMilliseconds(now, (n + 1 - flagUsageDays) * dayMilliseconds)),
  )
  const calls = await tx.usage.recentCalls(project.id, keys, days[0]!)
  return keys.map(key => ({
    id: flagOf.get(key)!.id,
    key,
    calls: days.map(day => calls.get(key)?.byDay.get(day) ?? 0),
  }))
}
