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
import { Problem } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { waitingFor } from '../change-control/requests/waiting-requests.ts'
import { freezesOf, scheduleToWire } from '../change-control/schedules/schedule-resource.ts'
import type { ScheduledChange } from '../change-control/schedules/scheduled-change.ts'
import { dayOf } from '../events/usage/usage.ts'
import { readFlagFilter } from '../flags/flag-filter.ts'
import { userToWire } from '../identity/user-resource.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000
/** Of thousands of flags, the busiest are among those called last: only these are ranked. */
const candidatesMax = 100
const firstEntries = { limit: homeEntriesMax, offset: 0 }

interface Context {
  readonly actor: Actor
  readonly project: Project
  /** The flags that are served. */
  readonly live: readonly Flag[]
  readonly now: Instant
}

/** ClickHouse, if it counts, is queried outside of the transaction; without it, no flag is listed as evaluated most. */
export async function readHome(database: Database, context: Context): Promise<ProjectHome> {
  const { lastCalled, home } = await database.read(tx => readStored(tx, context))
  try {
    return { ...home, most_evaluated: await database.query(tx => readMostEvaluated(tx, context, lastCalled)) }
  } catch (error) {
    if (!(error instanceof Problem && error.kind === 'unavailable')) throw error
    return { ...home, most_evaluated: [] }
  }
}

async function readStored(tx: Stores, context: Context) {
  const { actor, project, live, now } = context
  const stale = await tx.flags.list(project.id, readFlagFilter({ active: 'STALE' }, now), { limit: 1, offset: 0 })
  const conflicted = { requesterId: actor.user.id, states: ['conflicted'] as const }
  const about = { organizationId: project.organizationId, projectId: project.id, scopes: ['FeatureFlag'] as const }
  const activity = await tx.activity.list(about, { limit: homeChangesMax, offset: 0 })
  const lastCalled = await tx.usage.lastCalledKeys(project.id, candidatesMax)
  const rolledBack = live.filter(flag => flag.performedRollback).sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
  const home = {
    flags: { total: live.length, active: live.filter(({ active }) => active).length, stale: stale.count },
    is_connected: lastCalled.length > 0 || (await tx.sdkUsage.list(project.id)).length > 0,
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
  }
  return { home, lastCalled }
}

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

/** The flags with the most calls among those of the keys. */
async function readMostEvaluated(tx: Stores, { project, live, now }: Context, lastCalled: readonly string[]) {
  const days = Array.from({ length: flagUsageDays }, (_, n) =>
    dayOf(plusMilliseconds(now, (n + 1 - flagUsageDays) * dayMilliseconds)),
  )
  const keys = new Set(lastCalled)
  const callsOf = await tx.usage.recentCalls(project.id, lastCalled, days[0]!)
  return live
    .filter(({ key }) => keys.has(key))
    .map(({ id, key }) => ({ id, key, calls: days.map(day => callsOf.get(key)?.byDay.get(day) ?? 0) }))
    .map(flag => ({ flag, total: flag.calls.reduce((sum, calls) => sum + calls, 0) }))
    .filter(({ total }) => total > 0)
    .sort((a, b) => b.total - a.total || (a.flag.key < b.flag.key ? -1 : 1))
    .slice(0, homeEntriesMax)
    .map(({ flag }) => flag)
}
