import { FlagWrite, routes } from '@halyard/contract'
import { type RequestFilter, requestStates } from '../../../domain/change-request.ts'
import { bodyChecker } from '../../../http/routes/check-body.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { type Instant, parseInstant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Actor } from '../../../tenancy.ts'
import { requireCanEdit, requireNoViewer } from '../../access/grants.ts'
import type { GatedWrites } from '../gated-writes.ts'
import { requestToWire } from './change-request-resource.ts'
import { getRequest, requireCanEditTarget } from './decide-request.ts'
import { rebaseRequest, rescheduleRequest } from './edit-request.ts'
import { proposeRequest } from './propose-request.ts'
import type { RequestDetails } from './request-details.ts'
import { waitingFor } from './waiting-requests.ts'

interface Deps extends RouteDeps {
  readonly writes: GatedWrites
  readonly details: RequestDetails
}

const checkFields = bodyChecker(FlagWrite)

/** Serves change requests at PostHog's paths; `decision-routes.ts` has what is decided about them. */
export function serveChangeRequests(serve: ServeRoute, { database, writes, details, now }: Deps): void {
  const r = routes.changeRequests
  const { detailOf, outcomeOf } = details

  serve(r.list, ({ actor, project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const filter = readFilter(query, actor)
      const page =
        query.mine === '1'
          ? await waitingFor(tx, actor, project, filter, window)
          : await tx.changeRequests.list(project.id, filter, window)
      const decisions = await tx.changeRequests.listDecisions(page.items.map(({ id }) => id))
      return pageBody(page, window, url, request => requestToWire(request, decisions, actor.user))
    }),
  )

  serve(r.get, async ({ actor, project, params }) => {
    const request = await database.read(tx => getRequest(tx, project, Number(params.request_id)))
    return detailOf(actor, project, request)
  })

  serve(r.create, async request => {
    const { actor, project, body } = request
    checkFields(body.patch)
    const proposal = { ...body, patch: body.patch as FlagWrite, applyAt: readApplyAt(body.apply_at, now()) }
    const proposed = await writes.withEvidence(async (tx, evidence) => {
      const flag = body.flag_id === undefined ? undefined : await tx.flags.find(project.id, body.flag_id)
      if (body.flag_id !== undefined && !flag) {
        throw invalid('flag_id', 'does_not_exist', `This project has no flag with id ${body.flag_id}.`)
      }
      if (flag) await requireCanEdit(tx, actor, project, flag)
      else await requireNoViewer(tx, actor, project)
      return proposeRequest(tx, actor, project, flag, proposal, now(), evidence)
    })
    const status = body.dry_run ? 200 : 201
    return answer({ status, body: requestToWire(proposed!, [], actor.user) })
  })

  serve(r.rebase, async request => {
    const { actor, project, params } = request
    const rebased = await database.transaction(async tx => {
      const stored = await getRequest(tx, project, Number(params.request_id))
      await requireCanEditTarget(tx, actor, project, stored)
      return rebaseRequest(tx, actor, project, { requestId: stored.id, resolve: request.body.resolve }, now())
    })
    return outcomeOf(actor, project, rebased)
  })

  serve(r.reschedule, async request => {
    const { actor, project, params, body } = request
    if (body.apply_at === undefined) {
      throw invalid('apply_at', 'required', 'apply_at is required: a date-time, or null for at once.')
    }
    const applyAt = body.apply_at === null ? null : readApplyAt(body.apply_at, now())
    const change = { requestId: Number(params.request_id), applyAt, reason: body.reason ?? '' }
    const rescheduled = await database.transaction(async tx => {
      await requireCanEditTarget(tx, actor, project, await getRequest(tx, project, change.requestId))
      return rescheduleRequest(tx, actor, project, change, now())
    })
    return outcomeOf(actor, project, rescheduled)
  })
}

interface Query {
  readonly state?: string
  readonly action_key?: string
  readonly resource_type?: string
  readonly resource_id?: string
  readonly requester?: string
  readonly review?: string
}

/** Lenient, like PostHog, except that an unknown state or id finds nothing. */
function readFilter(query: Query, actor: Actor): RequestFilter {
  const states = query.state?.split(',').flatMap(state => requestStates.find(candidate => candidate === state) ?? [])
  const id = readId(query.resource_id)
  return {
    ...(states && { states: states.length > 0 ? states : (['none'] as never) }),
    ...(query.action_key && { actionKey: query.action_key }),
    ...(query.requester && { requesterId: query.requester === '@me' ? actor.user.id : readId(query.requester) }),
    ...(query.resource_id !== undefined && (query.resource_type === 'cohort' ? { cohortId: id } : { flagId: id })),
    ...(query.review === 'open' && { isReviewOpen: true }),
  }
}

const noId = -1
const readId = (text: string | undefined): number => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : noId)

function readApplyAt(text: string | undefined, now: Instant): Instant | null {
  if (text === undefined) return null
  const instant = parseInstant(text)
  if (instant === undefined || instant <= now) {
    throw invalid('apply_at', 'invalid_input', 'apply_at must be an ISO 8601 date-time in the future.')
  }
  return instant
}
