import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../storage/tables.generated.ts'
import type { SampleSum, Samples, WatchedPeriod } from './samples.ts'

export function sqlMetricStore(db: Kysely<Tables>) {
  const of = ({ flagId, activeSince }: WatchedPeriod) =>
    db.selectFrom('flag_metrics').where('flag_id', '=', flagId).where('active_since', '=', activeSince)

  return {
    async add({ flagId, activeSince }: WatchedPeriod, samples: readonly Samples[]): Promise<void> {
      for (const { name, minute, samples: count, total, lowest, highest } of samples) {
        await db
          .insertInto('flag_metrics')
          .values({
            flag_id: flagId,
            active_since: activeSince,
            series: name,
            minute,
            samples: count,
            total,
            lowest,
            highest,
          })
          .onConflict(conflict =>
            conflict.columns(['flag_id', 'series', 'active_since', 'minute']).doUpdateSet({
              samples: sql`flag_metrics.samples + excluded.samples`,
              total: sql`flag_metrics.total + excluded.total`,
              lowest: sql`case when excluded.lowest < flag_metrics.lowest then excluded.lowest else flag_metrics.lowest end`,
              highest: sql`case when excluded.highest > flag_metrics.highest then excluded.highest else flag_metrics.highest end`,
            }),
          )
          .execute()
      }
    },
    /** Undefined without samples from this minute on. */
    async sum(watched: WatchedPeriod, name: string, fromMinute: string): Promise<SampleSum | undefined> {
      const row = await of(watched)
        .where('series', '=', name)
        .where('minute', '>=', fromMinute)
        .select(({ fn }) => [
          fn.sum<number | null>('samples').as('samples'),
          fn.sum<number | null>('total').as('total'),
          fn.min('lowest').as('lowest'),
          fn.max('highest').as('highest'),
        ])
        .executeTakeFirst()
      const samples = Number(row?.samples ?? 0)
      if (!row || samples === 0) return undefined
      return { samples, total: Number(row.total), lowest: Number(row.lowest), highest: Number(row.highest) }
    },
    async countNames(watched: WatchedPeriod): Promise<number> {
      const row = await of(watched)
        .select(({ fn }) => fn.count<number>('series').distinct().as('n'))
        .executeTakeFirstOrThrow()
      return Number(row.n)
    },
    /** Removes the samples before this minute. */
    async removeBefore(minute: string): Promise<void> {
      await db.deleteFrom('flag_metrics').where('minute', '<', minute).execute()
    },
  }
}
