import type { ImportSource, ImportStatus } from '@halyard/migrate/model'
import type { Drift } from '@halyard/migrate/plan/drift'
import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { insertRows } from '../../storage/bulk-rows.ts'
import { inParts } from '../../storage/in-batches.ts'
import { readPage } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { contains } from '../../storage/text-search.ts'
import { embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import type { ImportLink, ImportPlan, ItemCount, ItemFilter, ListedItem, Outcome, PlannedItem } from './import-plan.ts'

/** A node of an older version, which runs until an upgrade is complete, writes targets without names. */
const isOfThisVersion = ({ targets }: Pick<ImportPlan, 'targets'>): boolean =>
  targets.every(({ name }) => name !== undefined)

/** Rows per statement: both databases limit the number of parameters. */
const rowsAtOnceMax = 500

export const sqlImportStore = (db: Kysely<Tables>) => ({ ...importPlans(db), ...importItems(db), ...importLinks(db) })

function importPlans(db: Kysely<Tables>) {
  async function readPlans(organizationId: string, now: string, planId?: number): Promise<readonly ImportPlan[]> {
    let query = db
      .selectFrom('import_plans')
      .innerJoin('users as creator', 'creator.id', 'import_plans.created_by_id')
      .selectAll('import_plans')
      .select(embeddedUser('creator'))
      .where('import_plans.organization_id', '=', organizationId)
      .where('import_plans.expires_at', '>', now)
    if (planId !== undefined) query = query.where('import_plans.id', '=', planId)
    const rows = await query.orderBy('import_plans.id', 'desc').execute()
    const plans = rows.map(row => ({ ...row, targets: JSON.parse(row.targets) as ImportPlan['targets'] }))
    return plans.filter(isOfThisVersion).map(({ targets, ...row }) => ({
      id: row.id,
      organizationId: row.organization_id,
      source: row.source as ImportSource,
      targets,
      newEnvironmentSet: row.new_environment_set,
      createdBy: readUser(row, 'creator'),
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      appliedAt: row.applied_at,
    }))
  }

  return {
    async createPlan(plan: Omit<ImportPlan, 'id'>, items: readonly PlannedItem[]): Promise<ImportPlan> {
      const { id } = await db
        .insertInto('import_plans')
        .values({
          organization_id: plan.organizationId,
          source: plan.source,
          targets: JSON.stringify(plan.targets),
          new_environment_set: plan.newEnvironmentSet,
          created_by_id: plan.createdBy.id,
          created_at: plan.createdAt,
          expires_at: plan.expiresAt,
          applied_at: plan.appliedAt,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      for (let at = 0; at < items.length; at += itemsAtOnce) {
        const rows = items.slice(at, at + itemsAtOnce).map(item => itemRow(id, item))
        await insertRows(db, 'import_plan_items', rows)
      }
      return { ...plan, id }
    },
    findPlan: async (organizationId: string, planId: number, now: Instant): Promise<ImportPlan | undefined> =>
      (await readPlans(organizationId, now, planId))[0],
    /** Plans that have not expired, newest first. */
    listPlans: (organizationId: string, now: Instant): Promise<readonly ImportPlan[]> => readPlans(organizationId, now),
    async removePlan(planId: number): Promise<void> {
      await db.deleteFrom('import_plans').where('id', '=', planId).execute()
    },
    /** In all organizations. */
    async removeExpired(now: Instant): Promise<void> {
      await db.deleteFrom('import_plans').where('expires_at', '<=', now).execute()
    },
    async setApplied(planId: number, now: Instant): Promise<void> {
      await db.updateTable('import_plans').set({ applied_at: now }).where('id', '=', planId).execute()
    },

    /** Once projects were created. False when another request has created them meanwhile. */
    async setTargets({ id, targets: stored }: ImportPlan, targets: ImportPlan['targets']): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('import_plans')
        .set({ targets: JSON.stringify(targets) })
        .where('id', '=', id)
        .where('targets', '=', JSON.stringify(stored))
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      for (const [target, { projectId }] of targets.entries()) {
        await db
          .updateTable('import_plan_items')
          .set({ project_id: projectId })
          .where('plan_id', '=', id)
          .where('target', '=', target)
          .execute()
      }
      return true
    },
  }
}

function importItems(db: Kysely<Tables>) {
  return {
    listItems(
      plan: ImportPlan,
      { status, projectId, target, search }: ItemFilter,
      window: Window,
    ): Promise<PageOf<ListedItem>> {
      let query = db
        .selectFrom('import_plan_items as item')
        .leftJoin('import_links as link', join =>
          join
            .onRef('link.project_id', '=', 'item.project_id')
            .on('link.source', '=', plan.source)
            .onRef('link.kind', '=', 'item.kind')
            .onRef('link.source_id', '=', 'item.source_id'),
        )
        .select([
          'item.plan_id',
          'item.position',
          'item.target',
          'item.project_id',
          'item.kind',
          'item.source_id',
          'item.source_key',
          'item.status',
          'item.reasons',
          'item.drift',
          'item.outcome',
          'link.flag_id',
          'link.cohort_id',
        ])
        .where('item.plan_id', '=', plan.id)
      if (status !== undefined) query = query.where('item.status', '=', status)
      if (projectId !== undefined) query = query.where('item.project_id', '=', projectId)
      if (target !== undefined) query = query.where('item.target', '=', target)
      if (search) query = query.where(contains('item.source_key', search))
      return readPage(query.orderBy('item.position'), window, row => ({
        ...toItem(row),
        flagId: row.flag_id,
        cohortId: row.cohort_id,
      }))
    },
    async countItems(planId: number): Promise<readonly ItemCount[]> {
      const rows = await db
        .selectFrom('import_plan_items')
        .select(['target', 'status', 'outcome', ({ fn }) => fn.countAll().as('count')])
        .where('plan_id', '=', planId)
        .groupBy(['target', 'status', 'outcome'])
        .execute()
      return rows.map(row => ({
        target: row.target,
        status: row.status as ImportStatus,
        outcome: row.outcome as Outcome | null,
        count: Number(row.count),
      }))
    },
    /** All items of a target with their definitions, in their order. */
    async readItems(planId: number, target: number): Promise<readonly PlannedItem[]> {
      const rows = await db
        .selectFrom('import_plan_items')
        .selectAll()
        .where('plan_id', '=', planId)
        .where('target', '=', target)
        .orderBy('position')
        .execute()
      return rows.map(row => ({ ...toItem(row), definition: row.definition && JSON.parse(row.definition) }))
    },
    async saveOutcomes(planId: number, outcomes: ReadonlyMap<number, Outcome>): Promise<void> {
      const byOutcome = new Map<Outcome, number[]>()
      for (const [position, outcome] of outcomes) {
        const positions = byOutcome.get(outcome)
        if (positions) positions.push(position)
        else byOutcome.set(outcome, [position])
      }
      for (const [outcome, positions] of byOutcome) {
        for (const part of inParts(positions, rowsAtOnceMax)) {
          await db
            .updateTable('import_plan_items')
            .set({ outcome })
            .where('plan_id', '=', planId)
            .where('position', 'in', part)
            .execute()
        }
      }
    },
  }
}

/** Which flag or cohort an item of a source became. */
function importLinks(db: Kysely<Tables>) {
  return {
    async listLinks(projectId: number, source: ImportSource): Promise<readonly ImportLink[]> {
      const rows = await db
        .selectFrom('import_links')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('source', '=', source)
        .execute()
      return rows.map(row => ({
        kind: row.kind as PlannedItem['kind'],
        sourceId: row.source_id,
        flagId: row.flag_id,
        cohortId: row.cohort_id,
        sourceHash: row.source_hash,
        targetHash: row.target_hash,
      }))
    },
    /** Replaces those of the same items. */
    async saveLinks(
      projectId: number,
      source: ImportSource,
      links: readonly ImportLink[],
      now: Instant,
    ): Promise<void> {
      for (const kind of ['flag', 'segment'] as const) {
        const ids = links.filter(link => link.kind === kind).map(link => link.sourceId)
        for (const part of inParts(ids, rowsAtOnceMax)) {
          await db
            .deleteFrom('import_links')
            .where('project_id', '=', projectId)
            .where('source', '=', source)
            .where('kind', '=', kind)
            .where('source_id', 'in', part)
            .execute()
        }
      }
      await insertRows(
        db,
        'import_links',
        links.map(link => ({
          project_id: projectId,
          source,
          kind: link.kind,
          source_id: link.sourceId,
          flag_id: link.flagId,
          cohort_id: link.cohortId,
          source_hash: link.sourceHash,
          target_hash: link.targetHash,
          imported_at: now,
        })),
      )
    },
  }
}

/** The rows of a large plan are not all in memory at once. */
const itemsAtOnce = 1000

const itemRow = (planId: number, item: PlannedItem) => ({
  plan_id: planId,
  position: item.position,
  target: item.target,
  project_id: item.projectId,
  kind: item.kind,
  source_id: item.sourceId,
  source_key: item.sourceKey,
  status: item.status,
  reasons: JSON.stringify(item.reasons),
  drift: item.drift,
  definition: item.definition && JSON.stringify(item.definition),
  outcome: item.outcome,
})

const toItem = (row: Omit<Selectable<Tables['import_plan_items']>, 'definition'>): Omit<PlannedItem, 'definition'> => ({
  position: row.position,
  target: row.target,
  projectId: row.project_id,
  kind: row.kind as PlannedItem['kind'],
  sourceId: row.source_id,
  sourceKey: row.source_key,
  status: row.status as ImportStatus,
  reasons: JSON.parse(row.reasons),
  drift: row.drift as Drift,
  outcome: row.outcome as Outcome | null,
})
