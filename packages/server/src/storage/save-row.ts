import type { Kysely, UpdateQueryBuilder, UpdateResult } from 'kysely'
import type { Tables } from './tables.generated.ts'

/**
 * The two ways in which a row is changed. A read-modify-write of a whole row is a compare-and-set on its version; everything else writes only
 * the columns that were sent, so that two requests never revert each other's fields.
 */

/** Tables whose rows carry a version that grows by one with each save. */
type VersionedTable =
  | 'approval_policies'
  | 'change_requests'
  | 'cohorts'
  | 'environment_sets'
  | 'groups'
  | 'persons'
  | 'plugin_configs'
  | 'plugins'
  | 'scheduled_changes'
type SentTable =
  | 'api_keys'
  | 'dashboards'
  | 'identity_providers'
  | 'organizations'
  | 'projects'
  | 'resource_access'
  | 'roles'
  | 'trust_relationships'
  | 'users'
  | 'webhooks'

/** Another transaction saved first; this one is run again on what is stored now. */
export class StaleWrite extends Error {
  constructor() {
    super('The row was changed by another transaction.')
    this.name = 'StaleWrite'
  }
}

/**
 * Saves a row whose new version is one above the stored one. Raises `StaleWrite` when another transaction saved first. Tables that are
 * partitioned by project need its id.
 */
export async function saveVersioned<T extends VersionedTable>(
  db: Kysely<Tables>,
  table: T,
  id: number,
  columns: ColumnsOf<T> & { readonly version: number },
  projectId?: number,
): Promise<void> {
  let save = update(db, table, columns)
    .where('id', '=', id)
    .where('version', '=', columns.version - 1)
  if (projectId !== undefined) save = save.where('project_id', '=', projectId)
  requireSaved((await save.executeTakeFirst()).numUpdatedRows)
}

/** The compare-and-set found the version that it expected. */
export function requireSaved(rows: bigint | undefined): void {
  if (rows !== 1n) throw new StaleWrite()
}

/** Writes the columns that have a value; the others stay as they are, whatever another transaction makes of them. */
export async function updateSent<T extends SentTable>(
  db: Kysely<Tables>,
  table: T,
  id: number | string,
  columns: ColumnsOf<T>,
): Promise<void> {
  const sent = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
  if (Object.keys(sent).length > 0) await update(db, table, sent).where('id', '=', id).execute()
}

type ColumnsOf<T extends keyof Tables> = { readonly [Column in keyof Tables[T]]?: unknown }

interface Updatable {
  rows: { id: number | string; version: number; project_id: number }
}

/** Kysely cannot type an update of a table that is a parameter; callers are held to the table's column names. */
const update = (db: Kysely<Tables>, table: string, columns: object) =>
  (db as unknown as Kysely<Updatable>).updateTable(table as 'rows').set(columns) as UpdateQueryBuilder<
    Updatable,
    'rows',
    'rows',
    UpdateResult
  >
