import { FlagWrite, routes } from '@halyard/contract'
import { bodyChecker } from '../../http/routes/check-body.ts'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { type Instant, parseInstant } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { requireCanEdit } from '../access/grants.ts'
import { cancelChange, planChange, replanChange } from './plan-change.ts'
import { scheduleToWire } from './schedule-resource.ts'
import type { ScheduleFilter } from './schedule-store.ts'
import type { ScheduledChange } from './scheduled-change.ts'

interface Deps {
  readonly database: Database
  readonly now: () => Instant
}

/** Serves scheduled changes of flags. */
export function serveSchedules(serve: ServeRoute, { database, now }: Deps): void {
  const r = routes.scheduledChanges

  serve(r.list, ({ project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const page = await tx.schedules.list(project.id, readFilter(query), window)
      const ids = new Set(page.items.filter(({ status }) => status === 'pending').map(({ flagId }) => flagId))
      const flags = ids.size === 0 ? [] : await tx.flags.findLive(project.id, [...ids])
      const flagOf = new Map(flags.map(flag => [flag.id, flag]))
      return pageBody(page, window, url, change => scheduleToWire(change, flagOf.get(change.flagId)))
    }),
  )

  serve(r.create, async ({ actor, project, body }) => {
    const flagId = readFlagId(body.record_id)
    const plan = { flagId, payload: checkedPayload(body.payload), scheduledAt: readTime(body.scheduled_at) }
    const change = await database.transaction(async tx => {
      const flag = await tx.flags.find(project.id, flagId)
      if (flag) await requireCanEdit(tx, actor, project, flag)
      return planChange(tx, actor, project, plan, now())
    })
    return scheduleToWire(change)
  })

  serve(r.get, ({ project, params }) =>
    database.read(async tx => {
      const change = await getChange(tx, project, params.id)
      return scheduleToWire(change, await tx.flags.find(project.id, change.flagId))
    }),
  )

  serve(r.update, async request => {
    const { actor, project, params } = request
    await database.read(tx => requireCanEditFlagOf(tx, actor, project, params.id))
    const { payload, scheduled_at } = request.body
    const plan = {
      id: Number(params.id),
      payload: payload && checkedPayload(payload),
      scheduledAt: readTime(scheduled_at),
    }
    return scheduleToWire(await database.transaction(tx => replanChange(tx, actor, project, plan, now())))
  })

  serve(r.remove, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      await requireCanEditFlagOf(tx, actor, project, params.id)
      await cancelChange(tx, actor, project, Number(params.id), now())
    })
    return answer({ status: 204 })
  })
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

const checkFields = bodyChecker(FlagWrite)

/** Validates the fields of an `update` against the contract when it is scheduled, not when it runs. */
function checkedPayload(payload: { readonly operation: string; readonly value?: unknown }): Record<string, unknown> {
  if (payload.operation === 'update') checkFields(payload.value)
  return payload
}

const noFlag = -1
const readFlagId = (id: string | number): number => (/^\d{1,15}$/.test(String(id)) ? Number(id) : noFlag)

function readTime(text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined
  const instant = parseInstant(text)
  if (instant !== undefined) return instant
  throw invalid(
    'scheduled_at',
    'invalid_input',
    'scheduled_at must be an ISO 8601 date-time such as 2026-01-31T12:00:00Z.',
  )
}

const readFilter = ({ record_id: id, status }: { record_id?: string; status?: string }): ScheduleFilter => ({
  ...(id !== undefined && { flagId: readFlagId(id) }),
  ...((status === 'pending' || status === 'done' || status === 'failed') && { status }),
})
