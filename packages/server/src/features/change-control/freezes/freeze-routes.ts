import { type Freeze as FreezeWire, routes } from '@halyard/contract'
import { type Freeze, timesOf } from '../../../domain/freeze.ts'
import { checkRule, isTimeZone } from '../../../domain/freeze-recurrence.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { type Instant, parseInstant } from '../../../instant.ts'
import { invalid, missing } from '../../../problem.ts'
import { adminLevel, levelInProject, requireLevel } from '../../../tenancy.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { requireRoles } from '../policies/require-roles.ts'
import { createFreeze, removeFreeze } from './create-freeze.ts'

/** Serves the times in which flags and cohorts are not changed. */
export function serveFreezes(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.freezes

  serve(r.list, ({ organization, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const all = await tx.freezes.list(organization.id)
      const projectId = Number(query.project)
      const setId = query.project === undefined ? null : await tx.environments.setOf(projectId)
      const fits = ({ projectId: own, environmentSetId }: Freeze) =>
        (own === null || own === projectId) && (environmentSetId === null || environmentSetId === setId)
      const matching = query.project === undefined ? all : all.filter(fits)
      const items = matching.slice(window.offset, window.offset + window.limit)
      return pageBody({ count: matching.length, items }, window, url, freeze => freezeToWire(freeze, now()))
    }),
  )

  serve(r.create, async ({ actor, organization, body }) => {
    requireLevel(actor, organization.id, adminLevel, 'freeze changes')
    const scope = {
      environmentSetId: body.environment_set ?? null,
      projectId: body.project ?? null,
      tag: body.tag ?? null,
    }
    const when = readWhen(body, now())
    const freeze = await database.transaction(async tx => {
      const project = scope.projectId === null ? undefined : await tx.projects.find(scope.projectId)
      if (
        scope.projectId !== null &&
        (project?.organizationId !== organization.id || levelInProject(actor, project) === undefined)
      ) {
        throw invalid('project', 'does_not_exist', `There is no project ${scope.projectId} in this organization.`)
      }
      if (scope.environmentSetId !== null && !(await tx.environments.find(organization.id, scope.environmentSetId))) {
        throw invalid('environment_set', 'does_not_exist', 'There is no such environment set in this organization.')
      }
      const exceptRoles = [...new Set(body.except_roles ?? [])]
      await requireRoles(tx, organization.id, exceptRoles, 'except_roles')
      return createFreeze(tx, actor, organization, { ...scope, when, reason: body.reason, exceptRoles }, now())
    })
    return freezeToWire(freeze, now())
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    requireLevel(actor, organization.id, adminLevel, 'end a freeze')
    await database.transaction(async tx => {
      if (!(await removeFreeze(tx, actor, organization, Number(params.freeze_id), now()))) throw missing('Freeze')
    })
    return answer({ status: 204 })
  })
}

interface Times {
  readonly starts_at?: string
  readonly ends_at?: string
  readonly rrule?: string
  readonly duration_minutes?: number
  readonly time_zone?: string
}

function readWhen(body: Times, now: Instant): Freeze['when'] {
  if (body.rrule === undefined) {
    // Ignored, it would leave the times in UTC although the client means local time.
    const [unused] = (['time_zone', 'duration_minutes'] as const).filter(field => body[field] !== undefined)
    if (unused) {
      throw invalid(unused, 'invalid_input', `${unused} needs rrule. Send starts_at and ends_at with their UTC offset.`)
    }
    const startsAt = body.starts_at === undefined ? now : readInstant('starts_at', body.starts_at)
    if (body.ends_at === undefined) throw invalid('ends_at', 'required', 'ends_at is required without rrule.')
    const endsAt = readInstant('ends_at', body.ends_at)
    if (endsAt <= startsAt || endsAt <= now) {
      throw invalid('ends_at', 'invalid_input', 'ends_at must be after starts_at and in the future.')
    }
    return { startsAt, endsAt }
  }
  if (body.starts_at !== undefined || body.ends_at !== undefined) {
    throw invalid('rrule', 'invalid_input', 'Send either rrule and duration_minutes, or starts_at and ends_at.')
  }
  checkRule(body.rrule)
  if (body.duration_minutes === undefined) {
    throw invalid('duration_minutes', 'required', 'duration_minutes is required with rrule.')
  }
  const timeZone = body.time_zone ?? 'UTC'
  if (!isTimeZone(timeZone)) {
    throw invalid('time_zone', 'invalid_input', 'time_zone must be an IANA time zone such as Europe/Berlin.')
  }
  return { rrule: body.rrule, durationMinutes: body.duration_minutes, timeZone }
}

function readInstant(field: string, text: string): Instant {
  const instant = parseInstant(text)
  if (instant === undefined) throw invalid(field, 'invalid_input', `${field} must be an ISO 8601 date-time.`)
  return instant
}

function freezeToWire(freeze: Freeze, now: Instant): FreezeWire {
  const { when } = freeze
  const { currentEnd, nextStart } = timesOf(freeze, now)
  const isOnce = 'startsAt' in when
  return {
    id: freeze.id,
    environment_set: freeze.environmentSetId,
    project: freeze.projectId,
    tag: freeze.tag,
    starts_at: isOnce ? when.startsAt : null,
    ends_at: isOnce ? when.endsAt : null,
    rrule: isOnce ? null : when.rrule,
    duration_minutes: isOnce ? null : when.durationMinutes,
    time_zone: isOnce ? 'UTC' : when.timeZone,
    reason: freeze.reason,
    except_roles: [...freeze.exceptRoles],
    is_active: currentEnd !== null,
    current_end: currentEnd,
    next_start: nextStart,
    created_by: userToWire(freeze.createdBy),
    created_at: freeze.createdAt,
  }
}
