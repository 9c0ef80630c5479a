import { type Kysely, type Selectable, sql } from 'kysely'
import { saveVersioned } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { contains } from '../../storage/text-search.ts'
import { StaleWrite } from '../../stores.ts'
import { type Group, groupTypesPerProjectMax } from './group.ts'
import type { GroupRef, GroupStore } from './group-store.ts'
import { propertiesCharactersMax, updateProperties } from './properties.ts'

/** `onChanged` is called with a stored group that a write changes. */
export function sqlGroupStore(
  db: Kysely<Tables>,
  onChanged: (projectId: number, ref: GroupRef) => void = () => {},
): GroupStore {
  const groups = (projectId: number, typeIndex: number) =>
    db.selectFrom('groups').where('project_id', '=', projectId).where('type_index', '=', typeIndex)

  const listTypes: GroupStore['listTypes'] = async projectId => {
    const rows = await db.selectFrom('group_types').selectAll().where('project_id', '=', projectId).execute()
    return new Map(rows.map(row => [row.name, row.type_index]))
  }
  const find: GroupStore['find'] = async (projectId, { typeIndex, key }) => {
    const row = await groups(projectId, typeIndex).selectAll().where('key', '=', key).executeTakeFirst()
    return row && toGroup(row)
  }

  return {
    listTypes,
    async ensureType(projectId, name) {
      const known = await listTypes(projectId)
      const index = known.get(name)
      if (index !== undefined) return { index, isNew: false }
      const taken = new Set(known.values())
      const free = Array.from({ length: groupTypesPerProjectMax }, (_, n) => n).find(n => !taken.has(n))
      if (free === undefined) return undefined
      const result = await db
        .insertInto('group_types')
        .values({ project_id: projectId, type_index: free, name })
        .onConflict(conflict => conflict.doNothing())
        .executeTakeFirst()
      if (Number(result.numInsertedOrUpdatedRows) === 0) throw new StaleWrite()
      return { index: free, isNew: true }
    },
    find,
    async findMany(projectId, refs) {
      const found = await Promise.all(refs.map(ref => find(projectId, ref)))
      return found.filter(group => group !== undefined)
    },
    async update(projectId, ref, update, at) {
      const known = await find(projectId, ref)
      const properties = updateProperties(known?.properties ?? {}, update)
      const text = JSON.stringify(properties)
      const isTooLarge = text.length > propertiesCharactersMax
      if (!known) {
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
      if (properties === known.properties || isTooLarge) return
      onChanged(projectId, ref)
      await saveVersioned(db, 'groups', known.id, { properties: text, version: known.version + 1 })
    },
    async remove(projectId, { typeIndex, key }) {
      onChanged(projectId, { typeIndex, key })
      const result = await db
        .deleteFrom('groups')
        .where('project_id', '=', projectId)
        .where('type_index', '=', typeIndex)
        .where('key', '=', key)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    async count(projectId, typeIndex) {
      const { n } = await groups(projectId, typeIndex)
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      return Number(n)
    },
    async list(projectId, typeIndex, search, window) {
      let query = groups(projectId, typeIndex)
      if (search) {
        query = query.where(sql<boolean>`(${contains('key', search)} or ${contains('properties', search)})`)
      }
      const { n } = await query.select(({ fn }) => fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
      const rows = await query.selectAll().orderBy('id', 'desc').limit(window.limit).offset(window.offset).execute()
      return { count: Number(n), items: rows.map(toGroup) }
    },
    async scan(projectId, typeIndex, afterId, limit) {
      const rows = await groups(projectId, typeIndex)
        .selectAll()
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(toGroup)
    },
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
