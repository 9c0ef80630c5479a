import { cohortNameCharactersMax, routes } from '@halyard/contract'
import type { Flag } from '../../domain/flag.ts'
import { nameOf } from '../../domain/person.ts'
import type { Sampled } from '../../evaluation/scan/scan-request.ts'
import type { Scanner } from '../../evaluation/scan/scanner.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../http/routes/serve-route.ts'
import { dateOf, type Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { PersonStores, Stores } from '../../stores.ts'
import { hasAnyScope, type Project } from '../../tenancy.ts'
import { canEditFlag } from '../access/access.ts'
import { grantsFor, requireCanEdit } from '../access/grants.ts'
import { cohortToWire } from '../cohorts/cohort-resource.ts'
import { createFilledCohort } from '../cohorts/create-cohort.ts'
import { flagToWire, patchFromWire } from '../flags/flag-resource.ts'
import { getFlag } from '../flags/flag-routes.ts'
import { definitionsFor, emptyTally, planBlastRadius, readTally } from './blast-radius.ts'
import { blastRadiusToWire, candidateFromWire, candidateToWire, type NamedSample } from './blast-radius-resource.ts'

const withPersons = { withPersons: true }

interface Deps extends RouteDeps {
  readonly scanner: Scanner
  /** Called when a background job was queued. */
  readonly onCohortWork: () => void
}

/** Serves the blast radius of a flag and static cohorts created from a flag (contract 4.2). */
export function serveImpact(serve: ServeRoute, { database, scanner, onCohortWork, now }: Deps): void {
  const r = routes.flagReach

  serve(r.userBlastRadius, async ({ actor, project, query, body, signal }) => {
    const at = now()
    const { candidate, plan } = await database.read(async tx => {
      const baseline = await findBaseline(tx, project, query.compare_to)
      const candidate = candidateFromWire(body, baseline, at)
      return { candidate, plan: await planBlastRadius(tx, project, candidate, dateOf(at).getTime()) }
    })
    const tally = plan.request ? await scanner.tally(plan.request, signal) : emptyTally
    const isGroups = plan.request?.target.kind === 'groups'
    const canReadNames = hasAnyScope(actor.key, [isGroups ? 'group:read' : 'person:read'])
    const name = (sampled: readonly Sampled[]) =>
      !canReadNames
        ? []
        : isGroups
          ? sampled.map(asGroup)
          : database.people.read(tx => namePersons(tx, project, sampled))
    const samples = { gained: await name(tally.gained), lost: await name(tally.lost) }
    const shape = candidateToWire(candidate, actor, project)
    return blastRadiusToWire(shape, readTally(tally, plan), candidate.baseline?.id, samples)
  })

  serve(r.createStaticCohort, async request => {
    const { actor, project, params } = request
    await database.read(async tx => requireCanEdit(tx, actor, project, await getFlag(tx, project, params.id)))
    // The body has no effect but must match the contract.
    patchFromWire(request.body)
    const at = now()
    const { flag, cohort } = await database.transaction(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const definitions = await definitionsFor(tx, project, flag)
      const task = { kind: 'fill', flagKey: flag.key, definitions, now: dateOf(at).getTime() } as const
      const content = { name: cohortNameFor(flag, at), description: '', filters: {}, deleted: false }
      return { flag, cohort: await createFilledCohort(tx, actor, project, content, task, at) }
    }, withPersons)
    onCohortWork()
    const canEdit = await database.read(async tx => canEditFlag(await grantsFor(tx, actor, project), flag))
    return { ...flagToWire(flag, canEdit), cohort: cohortToWire(cohort) }
  })
}

/** Contains the time to the second, so that several cohorts of one flag have distinct names. */
function cohortNameFor({ key }: Flag, at: Instant): string {
  const when = at.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replace('T', ' ')
  const named = (name: string) => `Users with ${name} on, ${when}`
  return named([...key].slice(0, cohortNameCharactersMax - named('').length).join(''))
}

async function findBaseline(tx: Stores, project: Project, id: string | undefined): Promise<Flag | undefined> {
  if (id === undefined || id === '') return undefined
  const flag = /^\d{1,15}$/.test(id) ? await tx.flags.find(project.id, Number(id)) : undefined
  if (!flag) throw invalid('compare_to', 'does_not_exist', 'compare_to: this project has no flag with this id.')
  return flag
}

const asGroup = (sampled: Sampled): NamedSample => ({
  id: sampled.identity ?? '',
  distinctId: null,
  name: sampled.identity ?? '',
  sampled,
})

/** Skips persons that were removed in the meantime. */
async function namePersons(
  tx: PersonStores,
  project: Project,
  sampled: readonly Sampled[],
): Promise<readonly NamedSample[]> {
  const distinctIds = await tx.persons.listDistinctIds(
    project.id,
    sampled.map(({ id }) => id),
    1,
  )
  const named: NamedSample[] = []
  for (const one of sampled) {
    const person = await tx.persons.find(project.id, one.id)
    const ids = distinctIds.get(one.id) ?? []
    if (person) named.push({ id: person.uuid, distinctId: ids[0] ?? null, name: nameOf(person, ids), sampled: one })
  }
  return named
}
