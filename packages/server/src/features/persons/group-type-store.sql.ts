import type { Kysely } from 'kysely'
import { StaleWrite } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { groupTypesPerProjectMax } from './group.ts'

/** The group types of projects, which flags and cohorts refer to. */
export function sqlGroupTypeStore(db: Kysely<Tables>) {
  const list = async (projectId: number): Promise<ReadonlyMap<string, number>> => {
    const rows = await db.selectFrom('group_types').selectAll().where('project_id', '=', projectId).execute()
    return new Map(rows.map(row => [row.name, row.type_index]))
  }

  return {
    /**
     * The index of a type, assigned on first use; undefined when all five are taken. Throws `StaleWrite` when a concurrent transaction took
     * the index. `isNew` means that the project has changed and the change must be announced.
     */
    async ensure(projectId: number, name: string): Promise<{ index: number; isNew: boolean } | undefined> {
      const types = await list(projectId)
      const index = types.get(name)
      if (index !== undefined) return { index, isNew: false }
      const taken = new Set(types.values())
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
  }
}
