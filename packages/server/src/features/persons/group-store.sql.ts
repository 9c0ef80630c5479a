import { type Kysely, type Selectable, sql } from 'kysely'
import {
  type Properties,
  type PropertyUpdate,
  propertiesCharactersMax,
  updateProperties,
} from '../../domain/properties.ts'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { readPage } from '../../storage/read-page.ts'
import { StaleWrite, saveVersioned } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { contains } from '../../storage/text-search.ts'
import type { Group, GroupRef } from './group.ts'
import { sampleProperties } from './sample-properties.sql.ts'

/** `onChanged` is called with a stored group that a write changes. */
export function sqlGroupStore(db: Kysely<Tables>, onChanged: (projectId: number, ref: GroupRef) => void = () => {}) {
  const groups = (projectId: number, typeIndex: number) =>
    db.selectFrom('groups').where('project_id', '=', projectId).where('type_index', '=', typeIndex)

  const find = async (projectId: number, { typeIndex, key }: GroupRef): Promise<Group | undefined> => {
    const row = await groups(projectId, typeIndex).selectAll().where('key', '=', key).executeTakeFirst()
    return row && toGroup(row)
  }

  return {
    find,
    async findMany(projectId: number, refs: readonly GroupRef[]): Promise<readonly Group[]> {
      const groups = await Promise.all(refs.map(ref => find(projectId, ref)))
      return groups.filter(group => group !== undefined)
    },
    /** Creates or updates. Throws `StaleWrite` on a concurrent change. */
    async update(projectId: number, ref: GroupRef, update: PropertyUpdate, at: Instant): Promise<void> {
      const current = await find(projectId, ref)
      const properties = updateProperties(current?.properties ?? {}, update)
      const text = JSON.stringify(properties)
      const isTooLarge = text.length > propertiesCharactersMax
      if (!current) {
        const result = await db
          .insertInto('groups')
          .values({
            project_id: projectId,
            type_index: ref.typeIndex,
            key: ref.key,
            properties: isTooLarge ? '{}' : text,
            version: 1,
            created_at: at,
          })
          .onConflict(conflict => conflict.doNothing())
          .executeTakeFirst()
        if (Number(result.numInsertedOrUpdatedRows) === 0) throw new StaleWrite()
        return
      }
      if (properties === current.properties || isTooLarge) return
      onChanged(projectId, ref)
      await saveVersioned(db, 'groups', current.id, { properties: text, version: current.version + 1 }, projectId)
    },
    /** False when the group does not exist. */
    async remove(projectId: number, { typeIndex, key }: GroupRef): Promise<boolean> {
      onChanged(projectId, { typeIndex, key })
      const result = await db
        .deleteFrom('groups')
        .where('project_id', '=', projectId)
        .where('type_index', '=', typeIndex)
        .where('key', '=', key)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    /** Newest first; `search` matches part of the key or of a property. */
    async list(
      projectId: number,
      typeIndex: number,
      search: string | undefined,
      window: Window,
    ): Promise<PageOf<Group>> {
      let query = groups(projectId, typeIndex)
      if (search) {
        query = query.where(sql<boolean>`(${contains('key', search)} or ${contains('properties', search)})`)
      }
      return readPage(query.selectAll().orderBy('id', 'desc'), window, toGroup)
    },
    /** The properties of the newest groups of a type, without those too large to sample. */
    sample: (projectId: number, typeIndex: number): Promise<readonly Properties[]> =>
      sampleProperties(db, groups(projectId, typeIndex)),
  }
}

const toGroup = (row: Selectable<Tables['groups']>): Group => ({
  id: row.id,
  projectId: row.project_id,
  typeIndex: row.type_index,
  key: row.key,
  properties: JSON.parse(row.properties),
  version: row.version,
  createdAt: row.created_at,
})
