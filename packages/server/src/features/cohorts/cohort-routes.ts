import { routes } from '@halyard/contract'
import type { CohortFilter } from '../../domain/cohort.ts'
import type { Scanner } from '../../evaluation/scan/scanner.ts'
import { activityBody, neighborLinks, pageBody, readActivityWindow, readWindow } from '../../http/routes/page-links.ts'
import type { RouteRequest, ServeRoute } from '../../http/routes/serve-route.ts'
import { dateOf, type Instant } from '../../instant.ts'
import { invalid, Problem } from '../../problem.ts'
import type { Database } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { requireNoViewer } from '../access/grants.ts'
import { activityToWire } from '../activity/activity-resource.ts'
import { readActivityFilter } from '../activity/read-activity-filter.ts'
import { cohortToWire, memberToWire, newContent } from './cohort-resource.ts'
import { createCohort, queueCount, reread } from './create-cohort.ts'
import { duplicateAsStatic } from './duplicate-cohort.ts'
import { listMembers } from './members/list-members.ts'
import { isEmpty, namedPeople } from './members/members.ts'
import { type CohortWrites, getCohort, planCohortRemoval, planCohortUpdate } from './plan-cohort.ts'
import { readCohortWrite, readMembers } from './read-cohort-write.ts'

const withPersons = { withPersons: true }

interface Deps {
  readonly database: Database
  readonly writes: CohortWrites
  readonly scanner: Scanner
  /** Called when a background job was queued. */
  readonly onCohortWork: () => void
  readonly now: () => Instant
}

/** Serves cohorts at PostHog's paths, `/api/projects/{id}/cohorts/`. */
export function serveCohorts(serve: ServeRoute, { database, writes, scanner, onCohortWork, now }: Deps): void {
  const r = routes.cohorts

  serve(r.list, ({ project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      return pageBody(await tx.cohorts.list(project.id, readFilter(query), window), window, url, cohortToWire)
    }),
  )

  serve(r.create, async request => {
    const { actor, project } = request
    const { patch, people, isStatic = false } = await readCohortWrite(request)
    const cohort = { content: newContent(patch), isStatic, people }
    const change = await database.transaction(
      async tx => {
        await requireNoViewer(tx, actor, project)
        return createCohort(tx, actor, project, cohort, now())
      },
      { withPersons: !isEmpty(people) },
    )
    onCohortWork()
    return changeToWire(change)
  })

  serve(r.get, ({ project, params }) =>
    database.read(async tx => cohortToWire(await getCohort(tx, project, Number(params.id)))),
  )

  serve(r.update, async request => {
    const { actor, project, params } = request
    const stored = await database.read(tx => getCohort(tx, project, Number(params.id)))
    const { patch, people, isStatic, version } = await readCohortWrite(request)
    if (isStatic !== undefined && isStatic !== stored.isStatic) {
      throw invalid(
        'is_static',
        'invalid_input',
        'is_static cannot be changed. Use duplicate_as_static_cohort to create a static copy.',
      )
    }
    const update = { cohortId: stored.id, patch, people, seenVersion: version }
    const change = await writes.saveCohort(
      request,
      async tx => {
        await requireNoViewer(tx, actor, project)
        return planCohortUpdate(tx, actor, project, update, now())
      },
      { withPersons: !isEmpty(people) },
    )
    onCohortWork()
    return changeToWire(change)
  })

  serve(r.remove, async () => {
    throw new Problem('method_not_allowed', 'Cohorts are deleted by PATCH with `deleted: true`.', {
      allow: ['GET', 'HEAD', 'PATCH'],
    })
  })

  serve(r.persons, async ({ project, params, query, url, signal }) => {
    const window = readWindow(query)
    const cohort = await database.read(tx => getCohort(tx, project, Number(params.id)))
    const memberQuery = { cohort, search: query.search?.trim() || undefined, window, now: dateOf(now()).getTime() }
    const { members, hasMore } = await listMembers(database, scanner, memberQuery, signal)
    const results = members.map(({ person, distinctIds }) => memberToWire(person, distinctIds))
    return { results, ...neighborLinks(window, url, hasMore) }
  })

  const add = async (request: RouteRequest<typeof r.addPersons | typeof r.addToStatic>) => {
    const { actor, project, params } = request
    const { id: cohortId } = await database.read(tx => getCohort(tx, project, Number(params.id)))
    const update = { cohortId, patch: {}, people: await readMembers(request) }
    const change = await writes.saveCohort(
      request,
      async tx => {
        await requireNoViewer(tx, actor, project)
        return planCohortUpdate(tx, actor, project, update, now())
      },
      withPersons,
    )
    onCohortWork()
    return changeToWire(change)
  }
  serve(r.addPersons, add)
  serve(r.addToStatic, add)

  serve(r.removeFromStatic, async request => {
    const { actor, project, params } = request
    const { id } = await database.read(tx => getCohort(tx, project, Number(params.id)))
    const { distinct_ids, distinct_id, person_ids, person_id } = request.body
    const people = namedPeople(
      [...(distinct_ids ?? []), ...(distinct_id === undefined ? [] : [distinct_id])],
      [...(person_ids ?? []), ...(person_id === undefined ? [] : [person_id])],
    )
    return changeToWire(
      await writes.saveCohort(
        request,
        async tx => {
          await requireNoViewer(tx, actor, project)
          return planCohortRemoval(tx, actor, project, { cohortId: id, people }, now())
        },
        withPersons,
      ),
    )
  })

  const duplicate = async ({ actor, project, params }: RouteRequest<typeof r.duplicate | typeof r.duplicateByGet>) => {
    const cohort = await database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      return duplicateAsStatic(tx, actor, project, Number(params.id), now())
    }, withPersons)
    onCohortWork()
    return cohortToWire(cohort)
  }
  serve(r.duplicate, duplicate)
  serve(r.duplicateByGet, duplicate)

  serve(r.calculate, async ({ actor, project, params }) => {
    const cohort = await database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      const stored = await getCohort(tx, project, Number(params.id))
      if (stored.isStatic || stored.deleted)
        throw invalid(null, 'invalid_input', 'Only a dynamic cohort that is not deleted can be recalculated.')
      await queueCount(tx, stored.id, now())
      return reread(tx, stored)
    })
    onCohortWork()
    return cohortToWire(cohort)
  })

  serve(r.activity, ({ project, params, query, url }) =>
    database.read(async tx => {
      const cohort = await getCohort(tx, project, Number(params.id))
      const window = readActivityWindow(query)
      const filter = { ...(await readActivityFilter(tx, query)), itemId: String(cohort.id) }
      return activityBody(
        await tx.activity.list({ ...cohortsOf(project), ...filter }, window),
        window,
        url,
        activityToWire,
      )
    }),
  )

  serve(r.projectActivity, ({ project, query, url }) =>
    database.read(async tx => {
      const window = readActivityWindow(query)
      const filter = { ...cohortsOf(project), ...(await readActivityFilter(tx, query)) }
      return activityBody(await tx.activity.list(filter, window), window, url, activityToWire)
    }),
  )
}

const cohortsOf = (project: Project) => ({
  organizationId: project.organizationId,
  projectId: project.id,
  scopes: ['Cohort'] as const,
})

const readFilter = (query: { search?: string; type?: string; deleted?: string }): CohortFilter => ({
  deleted: query.deleted === 'true',
  ...(query.search?.trim() && { search: query.search.trim() }),
  ...((query.type === 'static' || query.type === 'dynamic') && { isStatic: query.type === 'static' }),
})

const changeToWire = <C extends { readonly cohort: Parameters<typeof cohortToWire>[0] }>({ cohort, ...counts }: C) => ({
  ...cohortToWire(cohort),
  ...counts,
})
