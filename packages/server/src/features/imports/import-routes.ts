import { type ImportItem as ItemWire, type ImportPlan as PlanWire, routes } from '@halyard/contract'
import { type ExportFormat, exportFormats } from '@halyard/migrate/exporters/exported'
import { exporters } from '@halyard/migrate/exporters/exporters'
import { type ImportStatus, importStatuses } from '@halyard/migrate/model'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute, withProgress } from '../../http/routes/serve-route.ts'
import { invalid, missing, Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, levelInProject, type Organization } from '../../tenancy.ts'
import { requireNoViewer } from '../access/grants.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { GatedWrites } from '../change-control/gated-writes.ts'
import { userToWire } from '../identity/user-resource.ts'
import { applyImport, PreparationOutdated } from './apply-import.ts'
import type { ImportPlan, ItemCount, ItemFilter, ListedItem } from './import-plan.ts'
import { planImport } from './plan-import.ts'
import { prepareImport } from './prepare-import.ts'
import { readExported } from './read-exported.ts'
import { readTargets } from './read-targets.ts'

interface Deps extends RouteDeps {
  readonly writes: GatedWrites
  readonly onCohortWork: () => void
}

/** How often a project may change while the import into it is prepared. */
const attemptsMax = 5

const keepsChanging = (): Problem =>
  new Problem('conflict', 'A project kept changing; nothing was imported. Try again.', { code: 'plan_is_stale' })

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
    const { actor, organization, body } = request
    await refuseViewer(actor, organization)
    const wanted = {
      source: body.source,
      newEnvironmentSet: body.new_environment_set ?? null,
      targets: await readTargets(database, actor, organization, body),
      options: {
        clientLanguage: body.client_language,
        flagdVersion: body.flagd_version,
        includeArchived: body.include_archived,
      },
      bytes: request.raw?.length ?? 0,
    }
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
        ...(query.project !== undefined && { projectId: wholeNumber(query.project) }),
        ...(query.target !== undefined && { target: wholeNumber(query.target) }),
        ...(query.search !== undefined && { search: query.search }),
      }
      return pageBody(await tx.imports.listItems(plan, filter, window), window, url, itemToWire)
    }),
  )

  serve(r.apply, async request => {
    const { actor, organization, params, headers } = request
    const readPlan = () => database.read(tx => getPlan(tx, actor, organization, params.import_id))
    await readPlan()
    await refuseViewer(actor, organization)
    const { only = 'all', overwrite = false } = request.body
    return withProgress(headers, async report => {
      const options = { onlyExact: only === 'exact', overwrite }
      for (let attempts = 1; ; attempts++) {
        const prepared = await prepareImport(database, actor, organization, await readPlan(), options, report)
        try {
          const applied = await writes.saveMany(
            request,
            async gate => toWire(gate.tx, await applyImport(gate, actor, organization, prepared, report)),
            { isLarge: true, withPersons: true },
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
      await requireNoViewer(tx, actor, { organizationId: organization.id })
      await tx.imports.removePlan(id)
      const record = { scope: 'ImportPlan', itemId: id, name: String(id), activity: 'deleted' } as const
      recordAudit(tx, actor, { organizationId: organization.id }, record, now())
    })
    return answer({ status: 204 })
  })

  serve(r.export, async ({ project, query }) => {
    const { format = 'flagd' } = query
    if (!isFormat(format)) throw invalid('format', 'invalid_choice', `Use one of ${exportFormats.join(', ')}.`)
    const { document, items } = exporters[format](await database.read(tx => readExported(tx, project)))
    return { document, items: items.map(({ key, status, reasons }) => ({ key, status, reasons: [...reasons] })) }
  })

  const refuseViewer = (actor: Actor, { id }: Organization) =>
    database.read(tx => requireNoViewer(tx, actor, { organizationId: id }))

  /** Raises `missing`, also when one of the projects cannot be seen. */
  async function getPlan(tx: Stores, actor: Actor, { id }: Organization, planId: string): Promise<ImportPlan> {
    const plan = await tx.imports.findPlan(id, Number(planId), now())
    if (!plan || !isVisible(actor, plan)) throw missing('Import')
    return plan
  }
}

const isVisible = (actor: Actor, { organizationId, targets }: ImportPlan): boolean =>
  targets.every(({ projectId }) =>
    projectId === null
      ? (actor.levels.get(organizationId) ?? 0) >= adminLevel
      : levelInProject(actor, { id: projectId, organizationId }) !== undefined,
  )

const isFormat = (text: string): text is ExportFormat => (exportFormats as readonly string[]).includes(text)

const isStatus = (text: string | undefined): text is ImportStatus =>
  (importStatuses as readonly (string | undefined)[]).includes(text)

async function toWire(tx: Stores, plan: ImportPlan): Promise<PlanWire> {
  const counts = await tx.imports.countItems(plan.id)
  return {
    id: plan.id,
    source: plan.source,
    targets: plan.targets.map(({ projectId, environment, name, newGroupTypes = [], archived = 0 }, target) => ({
      project: projectId,
      environment,
      name,
      new_group_types: [...newGroupTypes],
      archived,
      ...numbersOf(counts.filter(count => count.target === target)),
    })),
    new_environment_set: plan.newEnvironmentSet,
    created_by: userToWire(plan.createdBy),
    created_at: plan.createdAt,
    expires_at: plan.expiresAt,
    applied_at: plan.appliedAt,
  }
}

function numbersOf(counts: readonly ItemCount[]) {
  const sum = (matches: (count: ItemCount) => boolean) =>
    counts.filter(matches).reduce((total, { count }) => total + count, 0)
  const withStatus = (status: ImportStatus) => sum(count => count.status === status)
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
  target: item.target,
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

/** -1, which no row has, for other text. */
const wholeNumber = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : -1)
