import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../../storage/tables.generated.ts'
import { removeBelongings } from '../remove-belongings.sql.ts'

/** What a persons database of its own keeps of projects after they are deleted in the main one: there is no cascade from one to the other. */
export function sqlProjectRemainsStore(db: Kysely<Tables>) {
  return {
    /**
     * The ids of projects that have persons, distinct ids or groups, after an id and in order. Skips through the indexes: one look-up for
     * each project, however many persons it has.
     */
    async listProjectIds(afterId: number, limit: number): Promise<readonly number[]> {
      const { rows } = await sql<{ project_id: number }>`
        with recursive found (project_id) as (
          ${nextProject(sql`${afterId}`)}
          union all
          select (${nextProject(sql`found.project_id`)}) from found where found.project_id is not null
        )
        select project_id from found where project_id is not null limit ${limit}
      `.execute(db)
      return rows.map(row => Number(row.project_id))
    },
    /** Removes at most `limit` persons with everything about them or, when there are none, other rows. False when nothing was left. */
    async removePart(projectId: number, limit: number): Promise<boolean> {
      const persons = db
        .selectFrom('persons')
        .select('id')
        .where('project_id', '=', projectId)
        .orderBy('id')
        .limit(limit)
      const ids = (await persons.execute()).map(({ id }) => id)
      if (ids.length > 0) {
        await db.deleteFrom('persons').where('project_id', '=', projectId).where('id', 'in', ids).execute()
        await removeBelongings(db, projectId, ids)
        return true
      }
      const strays = await db
        .deleteFrom('person_distinct_ids')
        .where('project_id', '=', projectId)
        .where('distinct_id', 'in', ({ selectFrom }) =>
          selectFrom('person_distinct_ids').select('distinct_id').where('project_id', '=', projectId).limit(limit),
        )
        .executeTakeFirst()
      const groups = await db
        .deleteFrom('groups')
        .where('project_id', '=', projectId)
        .where('id', 'in', ({ selectFrom }) =>
          selectFrom('groups').select('id').where('project_id', '=', projectId).limit(limit),
        )
        .executeTakeFirst()
      return strays.numDeletedRows + groups.numDeletedRows > 0n
    },
  }
}

const nextProject = (after: RawBuilder<unknown>) => sql`
  select min(project_id) from (
    select min(project_id) as project_id from persons where project_id > ${after}
    union all select min(project_id) from person_distinct_ids where project_id > ${after}
    union all select min(project_id) from "groups" where project_id > ${after}
  ) as heads`
