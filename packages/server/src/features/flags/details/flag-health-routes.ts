import { healthChecks, routes } from '@halyard/contract'
import type { ServedProject } from '../../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../../evaluation/snapshots.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { invalid, missing } from '../../../problem.ts'
import type { Project } from '../../../tenancy.ts'
import { canEditFlag } from '../../access/access.ts'
import { grantsFor } from '../../access/grants.ts'
import { getCohort } from '../../cohorts/plan-cohort.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { getFlag } from '../flag-routes.ts'
import { dependenciesOf, flagDependencies } from './dependencies.ts'
import { constantValue, failedChecks } from './flag-health.ts'
import { cohortUsedBy, flagUsedBy } from './used-by.ts'

interface Deps extends RouteDeps {
  readonly snapshots: Snapshots
}

/** A project has at most this many flags, and so details. */
const everything = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }

/** Serves which flags need attention, and what depends on a flag or cohort: both come from the compiled project. */
export function serveFlagHealth(serve: ServeRoute, { database, snapshots, now }: Deps): void {
  const r = routes.flagDetails

  const servedProject = async (project: Project): Promise<ServedProject> => {
    const served = await snapshots.forProject(project.id)
    if (!served) throw missing('Project')
    return served
  }

  serve(r.health, async ({ actor, project, query, url }) => {
    const check = healthChecks.find(name => name === query.check)
    if (query.check && !check) {
      throw invalid('check', 'invalid_choice', `check must be one of ${healthChecks.join(', ')}.`)
    }
    const search = query.search?.toLowerCase() ?? ''
    const served = await servedProject(project)
    const { details, lastCalled, grants } = await database.read(async tx => ({
      grants: await grantsFor(tx, actor, project),
      details: new Map((await tx.flagDetails.list(project.id, everything)).items.map(each => [each.flagId, each])),
      lastCalled: await tx.usage.lastUsed(project.id, 'called'),
    }))
    const { snapshot } = served
    const summary = Object.fromEntries(healthChecks.map(name => [name, 0])) as Record<string, number>
    const examined = snapshot.flags.flatMap(({ id }, position) => {
      const flag = served.flags.get(id)
      const reachable = snapshot.reachable[position]
      if (!flag || !reachable) return []
      const lastCalledAt = lastCalled.get(flag.key) ?? null
      const facts = { flag, lastCalledAt, reachable, details: details.get(id) }
      const checks = failedChecks(facts, now())
      for (const name of checks) summary[name] = (summary[name] ?? 0) + 1
      return [{ ...facts, checks }]
    })
    const isWanted = ({ flag, checks }: (typeof examined)[number]) =>
      query.flag_id === undefined
        ? (check ? checks.includes(check) : checks.length > 0) &&
          (flag.key.toLowerCase().includes(search) || flag.name.toLowerCase().includes(search))
        : String(flag.id) === query.flag_id
    const wanted = examined
      .filter(isWanted)
      .sort((a, b) => b.checks.length - a.checks.length || (a.flag.key < b.flag.key ? -1 : 1))
    const window = readWindow(query)
    const items = wanted.slice(window.offset, window.offset + window.limit)
    const page = pageBody({ count: wanted.length, items }, window, url, entry => ({
      id: entry.flag.id,
      key: entry.flag.key,
      name: entry.flag.name,
      active: entry.flag.active,
      created_at: entry.flag.createdAt,
      updated_at: entry.flag.updatedAt,
      last_called_at: entry.lastCalledAt,
      checks: entry.checks,
      constant_value: constantValue(entry),
      owner: entry.details?.owner ? userToWire(entry.details.owner) : null,
      expected_end: entry.details?.expectedEnd ?? null,
      can_edit: canEditFlag(grants, entry.flag),
    }))
    return { ...page, summary }
  })

  serve(r.dependencies, async ({ project, query }) => {
    const served = await servedProject(project)
    if (query.flag_id === undefined) return flagDependencies(served)
    const { id } = await database.read(tx => getFlag(tx, project, query.flag_id ?? ''))
    return dependenciesOf(served, id)
  })

  serve(r.flagUsedBy, async ({ actor, project, params }) => {
    const served = await servedProject(project)
    return database.read(async tx => flagUsedBy(tx, actor, project, await getFlag(tx, project, params.id), served))
  })

  serve(r.cohortUsedBy, async ({ project, params }) => {
    const cohort = await database.read(tx => getCohort(tx, project, Number(params.id)))
    return cohortUsedBy(await servedProject(project), cohort.id)
  })
}
