import { type PromotionPlan, routes, type EnvironmentSet as SetWire } from '@halyard/contract'
import { diffFields } from '../../../domain/activity.ts'
import { contentOf, newFlagContent } from '../../../domain/flag.ts'
import type { Impact } from '../../../domain/policy.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type RouteRequest, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { invalid, Problem } from '../../../problem.ts'
import { adminLevel, levelInProject, requireLevel } from '../../../tenancy.ts'
import { grantsFor } from '../../access/grants.ts'
import type { FlagSave } from '../../flags/flag-guard.ts'
import { contentToWire } from '../../flags/flag-resource.ts'
import { userToWire } from '../../identity/user-resource.ts'
import type { GatedWrites } from '../gated-writes.ts'
import { fieldsToWire } from '../requests/change-request-resource.ts'
import { openRequest } from '../requests/open-request.ts'
import type { EnvironmentSet } from './environment.ts'
import { flagTable, rowToWire } from './flag-table.ts'
import { type Promoted, type Promotion, type PromotionResult, promote } from './promote.ts'
import { createSet, getSet, removeSet, updateSet } from './save-set.ts'

interface Deps extends RouteDeps {
  readonly writes: GatedWrites
  readonly measure: (save: FlagSave) => Promise<Impact | undefined>
}

type PromoteRequest = RouteRequest<typeof routes.environments.plan | typeof routes.environments.promote>

/** Serves environment sets, the table of their flags, and promotion from one environment to another. */
export function serveEnvironments(serve: ServeRoute, { database, writes, measure, now }: Deps): void {
  const r = routes.environments
  const toDoWhat = 'change environment sets'

  serve(r.list, ({ organization, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const sets = await tx.environments.list(organization.id)
      const items = sets.slice(window.offset, window.offset + window.limit)
      return pageBody({ count: sets.length, items }, window, url, setToWire)
    }),
  )

  serve(r.create, async ({ actor, organization, body }) => {
    requireLevel(actor, organization.id, adminLevel, toDoWhat)
    return setToWire(await database.transaction(tx => createSet(tx, actor, organization, body, now())))
  })

  serve(r.get, ({ organization, params }) =>
    database.read(async tx => setToWire(await getSet(tx, organization, Number(params.set_id)))),
  )

  serve(r.update, async request => {
    const { actor, organization, params } = request
    requireLevel(actor, organization.id, adminLevel, toDoWhat)
    return database.transaction(async tx => {
      const { id } = await getSet(tx, organization, Number(params.set_id))
      return setToWire(await updateSet(tx, actor, organization, id, request.body, now()))
    })
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    requireLevel(actor, organization.id, adminLevel, toDoWhat)
    await database.transaction(tx => removeSet(tx, actor, organization, Number(params.set_id), now()))
    return answer({ status: 204 })
  })

  serve(r.flags, ({ actor, organization, params, query, url }) =>
    database.read(async tx => {
      const set = await getSet(tx, organization, Number(params.set_id))
      const candidates = await Promise.all(set.environments.map(({ projectId }) => tx.projects.find(projectId)))
      const projects = candidates.flatMap(project =>
        project && levelInProject(actor, project) !== undefined ? [project] : [],
      )
      const search = query.search?.toLowerCase() ?? ''
      const grants = await grantsFor(tx, actor, { organizationId: organization.id })
      const rows = (await flagTable(tx, projects)).filter(
        row => (query.differs !== '1' || row.differs) && row.key.toLowerCase().includes(search),
      )
      const window = readWindow(query)
      const items = rows.slice(window.offset, window.offset + window.limit)
      return pageBody({ count: rows.length, items }, window, url, row => rowToWire(row, projects, grants))
    }),
  )

  serve(r.plan, async request => {
    const { promotion, result } = await planOf(request)
    return planToWire(promotion, result)
  })

  serve(r.promote, async request => {
    const promotion = await readPromotion(request)
    const { actor, organization, body } = request
    const result = await writes.saveMany<PromotionResult>(request, async (gate, rollBack) => {
      const promoted = await promote(gate, actor, organization, promotion)
      if (promoted.hash !== body.hash) throw planIsStale()
      return promoted.items.some(({ needed }) => needed) ? rollBack(promoted) : promoted
    })
    if (result.items.some(({ needed }) => needed)) throw await requestInstead(result)
    return { hash: result.hash, items: result.items.map(item => itemToWire(item, null)) }
  })

  /** Runs the promotion and rolls it back, so that the plan is checked exactly like the promotion. */
  async function planOf(request: PromoteRequest) {
    const promotion = await readPromotion(request)
    const { actor, organization } = request
    const result = await writes.saveMany<PromotionResult>(request, async (gate, rollBack) =>
      rollBack(await promote(gate, actor, organization, promotion)),
    )
    return { promotion, result }
  }

  async function planToWire(promotion: Promotion, { hash, items }: PromotionResult): Promise<PromotionPlan> {
    const counted: PromotionPlan['items'] = []
    for (const item of items) {
      // What refers to a cohort that does not exist yet cannot be counted.
      const impact =
        item.after && item.newCohorts.length === 0
          ? await measure({ projectId: promotion.to.projectId, stored: item.before, flag: item.after })
          : undefined
      counted.push(itemToWire(item, impact?.affected ?? null))
    }
    return { hash, items: counted }
  }

  /** All or nothing: either every flag can be requested, or nothing happens. */
  async function requestInstead({ items }: PromotionResult): Promise<Problem> {
    const direct = items.filter(({ needed, before, after }) => !needed && after?.version !== before?.version)
    const cohorts = items.flatMap(({ newCohorts }) => newCohorts)
    const reason =
      direct.length > 0
        ? `Promote these apart, since they need no approval: ${direct.map(({ key }) => key).join(', ')}.`
        : `Create these cohorts first: ${cohorts.join(', ')}.`
    if (direct.length > 0 || cohorts.length > 0) {
      return new Problem('approval_required', `The target needs approval; nothing was changed. ${reason}`, {
        extra: { change_requests: [] },
      })
    }
    const opened = await database.transaction(async tx => {
      const requests: number[] = []
      for (const { needed } of items) {
        const project = needed && (await tx.projects.find(needed.projectId))
        if (project) requests.push((await openRequest(tx, project, needed, { reason: 'Promotion' }, now())).id)
      }
      return requests
    })
    return new Problem('approval_required', 'The target needs approval. A change request was opened for each flag.', {
      extra: { change_requests: opened },
    })
  }

  /** Raises `missing`, and `invalid` for projects that are not environments of the set. */
  async function readPromotion({ organization, actor, params, body }: PromoteRequest): Promise<Promotion> {
    const set = await database.read(tx => getSet(tx, organization, Number(params.set_id)))
    const environment = (field: 'from' | 'to') => {
      const chosen = set.environments.find(({ projectId }) => projectId === body[field])
      const isVisible =
        chosen && levelInProject(actor, { id: chosen.projectId, organizationId: organization.id }) !== undefined
      if (!isVisible) throw invalid(field, 'does_not_exist', `${field} must be a project of the environment set.`)
      return chosen
    }
    const [from, to] = [environment('from'), environment('to')]
    if (from.projectId === to.projectId) throw invalid('to', 'invalid_input', 'to must differ from from.')
    const parts = new Set(body.parts ?? (['filters', 'payloads', 'tags'] as const))
    return { keys: body.feature_flag_keys, from: from.projectId, to, parts }
  }
}

const planIsStale = (): Problem =>
  new Problem('conflict', 'Something has changed since the plan; nothing was promoted. Plan again.', {
    code: 'plan_is_stale',
  })

function itemToWire(item: Promoted, peopleAffected: number | null): PromotionPlan['items'][number] {
  const { key, before, after, needed, newCohorts, dependencies } = item
  const isChanged = needed !== undefined || after?.version !== before?.version
  return {
    key,
    action: !isChanged ? 'none' : before ? 'update' : 'create',
    changes: isChanged ? changesOf(item) : [],
    needs: { cohorts: [...newCohorts], flags: [...dependencies] },
    requires: needed?.policies.map(({ id }) => id) ?? [],
    people_affected: peopleAffected,
  }
}

/** Field by field, in the names of the API. Of a new flag: its conditions, its state, and what differs from an empty one. */
function changesOf({ key, before, after, needed }: Promoted): PromotionPlan['items'][number]['changes'] {
  const old = before ? contentToWire(contentOf(before)) : emptyFlag(key)
  const next = needed ? { ...old, ...fieldsToWire(needed.patch) } : after ? contentToWire(contentOf(after)) : old
  return diffFields(old, next)
    .filter(({ field }) => before !== undefined || field !== 'created_at')
    .map(change => ({
      type: 'FeatureFlag',
      ...change,
      ...(change.before === undefined ? { action: 'created' as const, before: null } : {}),
    }))
}

function emptyFlag(key: string): Record<string, unknown> {
  const { filters: _filters, active: _active, ...rest } = contentToWire(newFlagContent(key, ''))
  return rest
}

const setToWire = (set: EnvironmentSet): SetWire => ({
  id: set.id,
  name: set.name,
  environments: set.environments.map(({ projectId, name, isProduction }) => ({
    project: projectId,
    name,
    is_production: isProduction,
  })),
  created_by: userToWire(set.createdBy),
  created_at: set.createdAt,
  updated_at: set.updatedAt,
})
