import { type ShadowCount, type ShadowTotals, totalsOf } from '@halyard/migrate/shadow/shadow-counts'
import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import { inParts } from '../../storage/in-batches.ts'
import type { Tables } from '../../storage/tables.generated.ts'

/** Rows per statement: both databases limit the number of parameters. */
const rowsAtOnceMax = 200

export function sqlShadowStore(db: Kysely<Tables>) {
  return {
    /** Adds to the counts of the day. Each flag occurs once. */
    async add(projectId: number, day: string, counts: readonly ShadowCount[], at: Instant): Promise<void> {
      // A fixed lock order, so that two nodes cannot deadlock.
      const ordered = [...counts].sort((a, b) => a.flagId - b.flagId)
      for (const part of inParts(ordered, rowsAtOnceMax)) {
        await db
          .insertInto('shadow_days')
          .values(
            part.map(({ flagId, agree, differ, failed, example }) => ({
              project_id: projectId,
              flag_id: flagId,
              day,
              agree,
              differ,
              failed,
              differed_at: differ > 0 ? at : null,
              example: example && JSON.stringify(example),
            })),
          )
          .onConflict(conflict =>
            conflict.columns(['project_id', 'flag_id', 'day']).doUpdateSet(({ eb, fn, ref }) => ({
              agree: eb('shadow_days.agree', '+', ref('excluded.agree')),
              differ: eb('shadow_days.differ', '+', ref('excluded.differ')),
              failed: eb('shadow_days.failed', '+', ref('excluded.failed')),
              differed_at: fn.coalesce(ref('excluded.differed_at'), ref('shadow_days.differed_at')),
              example: fn.coalesce(ref('excluded.example'), ref('shadow_days.example')),
            })),
          )
          .execute()
      }
    },
    async totals(projectId: number, flagId: number): Promise<ShadowTotals> {
      const rows = await db
        .selectFrom('shadow_days')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('flag_id', '=', flagId)
        .orderBy('day')
        .execute()
      return totalsOf(
        rows.map(({ day, agree, differ, failed, example, differed_at: differedAt }) => ({
          day,
          agree: Number(agree),
          differ: Number(differ),
          failed: Number(failed),
          example: example === null ? null : JSON.parse(example),
          differedAt,
        })),
      )
    },
    async removeBefore(day: string): Promise<void> {
      await db.deleteFrom('shadow_days').where('day', '<', day).execute()
    },
  }
}
