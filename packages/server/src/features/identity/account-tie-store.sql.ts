import { type Kysely, sql } from 'kysely'
import { type CommonControl, commonControl, lastingKinds, type Tie, type TieKind } from '../../domain/account-tie.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { inParts } from '../../storage/in-batches.ts'
import type { Tables } from '../../storage/tables.generated.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000
const idsPerQuery = 500
/** A chain of invitations is followed this far. */
const roundsMax = 50

export function sqlAccountTieStore(db: Kysely<Tables>, days: number) {
  /** The ties of the accounts, and of those that tied them. */
  async function tiesAbove(accountIds: readonly number[], now: Instant): Promise<ReadonlyMap<number, readonly Tie[]>> {
    const since = plusMilliseconds(now, -days * dayMilliseconds)
    const ties = new Map<number, Tie[]>()
    let frontier = [...new Set(accountIds)]
    for (let round = 0; frontier.length > 0 && round < roundsMax; round += 1) {
      const reached: number[] = []
      for (const ids of inParts(frontier, idsPerQuery)) {
        const rows = await db
          .selectFrom('account_ties')
          .select(['account_id', 'by_id', 'kind'])
          .where('account_id', 'in', ids)
          .where(({ or, eb }) => or([eb('at', '>', since), eb('kind', 'in', lastingKinds)]))
          .execute()
        for (const id of ids) ties.set(id, [])
        for (const { account_id, by_id, kind } of rows) {
          ties.get(account_id)!.push({ byId: by_id, kind: kind as TieKind })
          reached.push(by_id)
        }
      }
      frontier = [...new Set(reached)].filter(id => !ties.has(id))
    }
    return ties
  }

  return {
    /**
     * Records that `byId` created the account, or gave it more rights. Of two times, the later one counts, and that of control rather than
     * that of a level.
     */
    async tie(accountId: number, byId: number, kind: TieKind, at: Instant): Promise<void> {
      if (accountId === byId) return
      await db
        .insertInto('account_ties')
        .values({ account_id: accountId, by_id: byId, kind, at })
        .onConflict(conflict =>
          conflict.columns(['account_id', 'by_id']).doUpdateSet({
            at: sql<Instant>`case when account_ties.at < excluded.at then excluded.at else account_ties.at end`,
            kind: sql<string>`case when account_ties.kind = 'level' then excluded.kind else account_ties.kind end`,
          }),
        )
        .execute()
    },
    /** Those among the candidates who do not count as other people when they approve what the account requests, and why. */
    async dependentOn(
      requesterId: number,
      candidates: Iterable<number>,
      now: Instant,
    ): Promise<ReadonlyMap<number, CommonControl>> {
      const others = [...candidates].filter(id => id !== requesterId)
      if (others.length === 0) return new Map()
      const ties = await tiesAbove([requesterId, ...others], now)
      return new Map(
        others.flatMap(id => {
          const control = commonControl(requesterId, id, ties)
          return control ? [[id, control] as const] : []
        }),
      )
    },
  }
}
