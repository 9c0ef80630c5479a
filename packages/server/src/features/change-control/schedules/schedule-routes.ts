import { FlagWrite, routes } from '@halyard/contract'
import { bodyChecker } from '../../../http/routes/check-body.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { type Instant, parseInstant } from '../../../instant.ts'
import { invalid, missing } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { requireCanEdit } from '../../access/grants.ts'
import type { GatedWrites } from '../gated-writes.ts'
import { cancelChange, planSchedule, planScheduleEdit, type SchedulePlan } from './plan-schedule.ts'
import { freezesOf, scheduleToWire } from './schedule-resource.ts'
import type { ScheduledChange, ScheduleFilter } from './scheduled-change.ts'

interface Deps extends RouteDeps {
  readonly writes: GatedWrites
}

/** Serves scheduled changes of flags. */
export function serveSchedules(serve: ServeRoute, { database, writes, now }: Deps): void {
  const r = routes.scheduledChanges

  serve(r.list, ({ project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const page = await tx.schedules.list(project.id, readFilter(query), window)
      const ids = new Set(page.items.filter(({ status }) => status === 'pending').map(({ flagId }) => flagId))
      const flags = ids.size === 0 ? [] : await tx.flags.findLive(project.id, [...ids])
      const flagOf = new Map(flags.map(flag => [flag.id, flag]))
      const frozenAt = await freezesOf(tx, project)
      return pageBody(page, window, url, change => {
        const flag = flagOf.get(change.flagId)
        return scheduleToWire(change, flag, frozenAt(change, flag))
      })
    }),
  )

  serve(r.create, async request => {
    const { actor, project, body } = request
    const flagId = readFlagId(body.record_id)
    if (!body.is_recurring && (body.recurrence_interval || body.cron_expression)) {
      throw invalid('is_recurring', 'invalid_input', 'Send is_recurring: true with a recurrence.')
    }
    const { pair } = body
    const plan: SchedulePlan = {
      payload: checkedPayload(body.payload),
      scheduledAt: readTime('scheduled_at', body.scheduled_at) ?? null,
      isRecurring: body.is_recurring ?? false,
      recurrenceInterval: body.recurrence_interval ?? null,
      cronExpression: body.cron_expression ?? null,
      timezone: body.timezone ?? project.timezone,
      endDate: readTime('end_date', body.end_date) ?? null,
      pair: pair
        ? {
            scheduledAt: readTime('pair', pair.scheduled_at) ?? null,
            cronExpression: pair.cron_expression ?? null,
          }
        : null,
    }
    return writes.saveSchedule(
      request,
      async tx => {
        const flag = await tx.flags.find(project.id, flagId)
        if (flag) await requireCanEdit(tx, actor, project, flag)
        return planSchedule(tx, actor, project, { flagId, plan }, { now: now() })
      },
      (change, tx) => shown(tx, project, change),
    )
  })

  serve(r.get, ({ project, params }) =>
    database.read(async tx => {
      return shown(tx, project, await getChange(tx, project, params.id))
    }),
  )

  serve(r.update, async request => {
    const { actor, project, params } = request
    await database.read(tx => requireCanEditFlagOf(tx, actor, project, params.id))
    const { body } = request
    const edit: Partial<SchedulePlan> = {
      ...(body.payload && { payload: checkedPayload(body.payload) }),
      ...(body.scheduled_at !== undefined && { scheduledAt: readTime('scheduled_at', body.scheduled_at)! }),
      ...(body.is_recurring !== undefined && { isRecurring: body.is_recurring }),
      ...(body.recurrence_interval !== undefined && { recurrenceInterval: body.recurrence_interval }),
      ...(body.cron_expression !== undefined && { cronExpression: body.cron_expression }),
      ...(body.timezone !== undefined && { timezone: body.timezone }),
      ...(body.end_date !== undefined && { endDate: readTime('end_date', body.end_date) ?? null }),
    }
    return writes.saveSchedule(
      request,
      tx => planScheduleEdit(tx, actor, project, { id: Number(params.id), edit }, { now: now() }),
      (change, tx) => shown(tx, project, change),
    )
  })

  serve(r.remove, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      await requireCanEditFlagOf(tx, actor, project, params.id)
      await cancelChange(tx, actor, project, Number(params.id), now())
    })
    return answer({ status: 204 })
  })
}

async function shown(tx: Stores, project: Project, change: ScheduledChange) {
  const flag = await tx.flags.find(project.id, change.flagId)
  return scheduleToWire(change, flag, (await freezesOf(tx, project))(change, flag))
}

async function getChange(tx: Stores, project: Project, id: string): Promise<ScheduledChange> {
  const change = await tx.schedules.find(project.id, Number(id))
  if (!change) throw missing('Scheduled change')
  return change
}

async function requireCanEditFlagOf(tx: Stores, actor: Actor, project: Project, id: string): Promise<void> {
  const change = await getChange(tx, project, id)
  const flag = await tx.flags.find(project.id, change.flagId)
  if (flag) await requireCanEdit(tx, actor, project, flag)
}

const checkFields = bodyChecker(FlagWrite, 'payload')

/** Validates the fields of an `update` against the contract when it is scheduled, not when it runs. */
function checkedPayload(payload: { readonly operation: string; readonly value?: unknown }): Record<string, unknown> {
  if (payload.operation === 'update') checkFields(payload.value)
  return payload
}

const noFlag = -1
const readFlagId = (id: string | number): number => (/^\d{1,15}$/.test(String(id)) ? Number(id) : noFlag)

function readTime(field: string, text: string | null | undefined): Instant | undefined {
  if (text === undefined || text === null) return undefined
  const instant = parseInstant(text)
  if (instant !== undefined) return instant
  throw invalid(field, 'invalid_input', `${field} must be an ISO 8601 date-time such as 2026-01-31T12:00:00Z.`)
}

const readFilter = ({ record_id: id, status }: { record_id?: string; status?: string }): ScheduleFilter => ({
  ...(id !== undefined && { flagId: readFlagId(id) }),
  ...((status === 'pending' || status === 'done' || status === 'failed') && { status }),
})
