import { type ImportItem as ItemWire, type ImportPlan as PlanWire, routes } from '@halyard/contract'
import { type ExportFormat, exportFormats } from '@halyard/importers/export/exported'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import { answer, type RouteRequest, type ServeRoute, withProgress } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { invalid, missing, Problem } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import { type Actor, levelInProject, type Organization, type Project } from '../../tenancy.ts'
import type { GatedWrites } from '../approvals/gated-writes.ts'
import { getSet } from '../environments/save-set.ts'
import { findProject } from '../flag-copies/copy-flag.ts'
import { userToWire } from '../identity/user-resource.ts'
import { applyImport, PreparationOutdated } from './apply-import.ts'
import type { ImportPlan, Status } from './import-plan.ts'
import type { ItemCount, ItemFilter, ListedItem } from './import-store.ts'
import { type NewImport, planImport, readContent } from './plan-import.ts'
import { prepareImport } from './prepare-import.ts'
import { readExported } from './read-exported.ts'

interface Deps {
  readonly database: Database
  readonly writes: GatedWrites
  readonly onCohortWork: () => void
  readonly now: () => Instant
}

/** How often a project may change while the import into it is prepared. */
const attemptsMax = 5

const keepsChanging = (): Problem =>
  new Problem('conflict', 'A project kept changing; nothing was imported. Try again.', { code: 'plan_is_stale' })

type CreateRequest = RouteRequest<typeof routes.imports.create>

/** Serves imports from other services: a plan of what the file means here, then its application. */
export function serveImports(serve: ServeRoute, { database, writes, onCohortWork, now }: Deps): void {
  const r = routes.imports

  serve(r.list, ({ actor, organization, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const plans = (await tx.imports.listPlans(organization.id, now())).filter(plan => isVisible(actor, plan))
      const items: PlanWire[] = []
      for (const plan of plans.slice(window.offset, window.offset + window.limit)) items.push(await toWire(tx, plan))
      return pageBody({ count: plans.length, items }, window, url, item => item)
    }),
  )

  serve(r.create, async request => {
    const { actor, organization } = request
    const wanted = await readImport(request)
    return withProgress(request.headers, async report => {
      const plan = await planImport(database, actor, organization, wanted, now(), report)
      return database.read(tx => toWire(tx, plan))
    })
  })

  serve(r.get, ({ actor, organization, params }) =>
    database.read(async tx => toWire(tx, await getPlan(tx, actor, organization, params.import_id))),
  )

  serve(r.items, ({ actor, organization, params, query, url }) =>
    database.read(async tx => {
      const plan = await getPlan(tx, actor, organization, params.import_id)
      const window = readWindow(query)
      const filter: ItemFilter = {
        ...(isStatus(query.status) && { status: query.status }),
        ...(query.project !== undefined && { projectId: Number(query.project) || 0 }),
        ...(query.search !== undefined && { search: query.search }),
      }
      return pageBody(await tx.imports.listItems(plan, filter, window), window, url, itemToWire)
    }),
  )

  serve(r.apply, async request => {
    const { actor, organization, params, headers } = request
    const plan = await database.read(tx => getPlan(tx, actor, organization, params.import_id))
    const { only = 'all', overwrite = false } = request.body
    return withProgress(headers, async report => {
      const options = { onlyExact: only === 'exact', overwrite }
      for (let attempts = 1; ; attempts++) {
        const prepared = await prepareImport(database, actor, organization, plan, options, report)
        try {
          const applied = await writes.save(request, async (tx, permit) =>
            toWire(tx, await applyImport(tx, actor, organization, prepared, { now: now(), permit, report })),
          )
          onCohortWork()
          return applied
        } catch (error) {
          if (!(error instanceof PreparationOutdated)) throw error
          if (attempts === attemptsMax) throw keepsChanging()
        }
      }
    })
  })

  serve(r.remove, async ({ actor, organization, params }) => {
    await database.transaction(async tx => {
      const { id } = await getPlan(tx, actor, organization, params.import_id)
      await tx.imports.removePlan(id)
    })
    return answer({ status: 204 })
  })

  serve(r.export, async ({ project, query }) => {
    const { format = 'flagd' } = query
    if (!isFormat(format)) throw invalid('format', 'invalid_choice', `Use one of ${exportFormats.join(', ')}.`)
    const { exporters } = await import('@halyard/importers/export/exporters')
    const { document, items } = exporters[format](await database.read(tx => readExported(tx, project)))
    return { document, items: items.map(({ key, status, reasons }) => ({ key, status, reasons: [...reasons] })) }
  })

  /** Raises `missing`, also when one of the projects cannot be seen. */
  async function getPlan(tx: Stores, actor: Actor, { id }: Organization, planId: string): Promise<ImportPlan> {
    const plan = await tx.imports.findPlan(id, Number(planId), now())
    if (!plan || !isVisible(actor, plan)) throw missing('Import')
    return plan
  }

  async function readImport(request: CreateRequest): Promise<NewImport> {
    const { body } = request
    const document = readContent(body.content)
    return {
      source: body.source,
      document,
      targets: await database.read(tx => readTargets(tx, request, document)),
      options: {
        clientLanguage: body.client_language,
        flagdVersion: body.flagd_version,
        includeArchived: body.include_archived,
      },
    }
  }
}

/** Raises `invalid` for a project or set that does not exist, and when no environment has the same name. */
async function readTargets(
  tx: Stores,
  { actor, organization, body }: CreateRequest,
  document: unknown,
): Promise<NewImport['targets']> {
  if ((body.mapping === undefined) === (body.environment_set === undefined)) {
    throw invalid('mapping', 'required', 'Send either mapping or environment_set.')
  }
  const wanted = body.mapping ?? (await ofSet())
  const targets: { project: Project; environment: string | null }[] = []
  for (const { project: id, environment = null } of wanted) {
    const project = await findProject(tx, actor, organization, id)
    if (!project) throw invalid('mapping', 'does_not_exist', `There is no project ${id} in this organization.`)
    if (targets.some(target => target.project.id === id)) {
      throw invalid('mapping', 'invalid_input', `The project ${id} is named twice.`)
    }
    targets.push({ project, environment })
  }
  return targets

  async function ofSet() {
    const { environments } = await getSet(tx, organization, body.environment_set!)
    const { environmentsBySource } = await import('@halyard/importers/converters')
    const names = environmentsBySource[body.source]?.(document) ?? []
    const matches = environments.flatMap(({ name, projectId }) => {
      const environment = names.find(candidate => candidate.toLowerCase() === name.toLowerCase())
      return environment === undefined ? [] : [{ environment, project: projectId }]
    })
    if (matches.length > 0) return matches
    const known = names.length === 0 ? 'none' : names.join(', ')
    throw invalid('environment_set', 'invalid_input', `No environment of the set is in the file, which has ${known}.`)
  }
}

const isVisible = (actor: Actor, { organizationId, targets }: ImportPlan): boolean =>
  targets.every(({ projectId }) => levelInProject(actor, { id: projectId, organizationId }) !== undefined)

const isFormat = (text: string): text is ExportFormat => (exportFormats as readonly string[]).includes(text)

const isStatus = (text: string | undefined): text is Status =>
  text === 'exact' || text === 'approximate' || text === 'refused'

async function toWire(tx: Stores, plan: ImportPlan): Promise<PlanWire> {
  const counts = await tx.imports.countItems(plan.id)
  return {
    id: plan.id,
    source: plan.source,
    targets: plan.targets.map(({ projectId, environment }) => ({
      project: projectId,
      environment,
      ...numbersOf(counts.filter(count => count.projectId === projectId)),
    })),
    created_by: userToWire(plan.createdBy),
    created_at: plan.createdAt,
    expires_at: plan.expiresAt,
    applied_at: plan.appliedAt,
  }
}

function numbersOf(counts: readonly ItemCount[]) {
  const sum = (matches: (count: ItemCount) => boolean) =>
    counts.filter(matches).reduce((total, { count }) => total + count, 0)
  const withStatus = (status: Status) => sum(count => count.status === status)
  const withOutcome = (outcome: ItemCount['outcome']) =>
    sum(count => count.outcome === outcome && count.status !== 'refused')
  return {
    exact: withStatus('exact'),
    approximate: withStatus('approximate'),
    refused: withStatus('refused'),
    created: withOutcome('created'),
    updated: withOutcome('updated'),
    unchanged: withOutcome('unchanged'),
    skipped: withOutcome('skipped'),
  }
}

const itemToWire = (item: ListedItem): ItemWire => ({
  position: item.position,
  project: item.projectId,
  kind: item.kind,
  source_key: item.sourceKey,
  status: item.status,
  reasons: item.reasons.map(({ message, path }) => ({ message, path })),
  drift: item.drift,
  outcome: item.outcome,
  flag: item.flagId,
  cohort: item.cohortId,
})
