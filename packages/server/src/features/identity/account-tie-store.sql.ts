import type { Kysely } from 'kysely'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { inParts } from '../../storage/in-batches.ts'
import type { Tables } from '../../storage/tables.generated.ts'

/** How an account came under the control of another one. Accounts without a person stay so, the others for some days. */
export type TieKind = 'invited' | 'provisioned' | 'level' | (typeof lastingKinds)[number]
export const lastingKinds = ['service_key', 'trust_relationship', 'scim_token'] as const

const dayMilliseconds = 24 * 60 * 60 * 1000
const idsPerQuery = 500
/** A chain of invitations is followed this far. */
const roundsMax = 50

export function sqlAccountTieStore(db: Kysely<Tables>, days: number) {
  /** Accounts with those that tied them, directly or through others; each account is among its own. */
  async function controllersOf(
    accountIds: readonly number[],
    now: Instant,
  ): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
    const since = plusMilliseconds(now, -days * dayMilliseconds)
    const parents = new Map<number, number[]>()
    let frontier = [...new Set(accountIds)]
    for (let round = 0; frontier.length > 0 && round < roundsMax; round += 1) {
      const reached: number[] = []
      for (const ids of inParts(frontier, idsPerQuery)) {
        const ties = await db
          .selectFrom('account_ties')
          .select(['account_id', 'by_id'])
          .where('account_id', 'in', ids)
          .where(({ or, eb }) => or([eb('at', '>', since), eb('kind', 'in', lastingKinds)]))
          .execute()
        for (const id of ids) parents.set(id, [])
        for (const { account_id, by_id } of ties) {
          parents.get(account_id)!.push(by_id)
          reached.push(by_id)
        }
      }
      frontier = [...new Set(reached)].filter(id => !parents.has(id))
    }
    return new Map(accountIds.map(id => [id, reachableFrom(id, parents)]))
  }

  /** The account and, where it has no person, those who decide about it: also through other accounts without a person. */
  async function deciders(accountId: number): Promise<readonly number[]> {
    const reached = new Set([accountId])
    for (const id of reached) {
      const creators = await db
        .selectFrom('account_ties')
        .select('by_id')
        .where('account_id', '=', id)
        .where('kind', 'in', lastingKinds)
        .execute()
      for (const { by_id } of creators) reached.add(by_id)
    }
    return [...reached]
  }

  return {
    /** Records that `byId` created the account, or gave it more rights. Of two times, the later one counts. */
    async tie(accountId: number, byId: number, kind: TieKind, at: Instant): Promise<void> {
      if (accountId === byId) return
      await db
        .insertInto('account_ties')
        .values({ account_id: accountId, by_id: byId, kind, at })
        .onConflict(conflict =>
          conflict.columns(['account_id', 'by_id']).doUpdateSet({ at }).where('account_ties.at', '<', at),
        )
        .execute()
    },
    /**
     * Those among the candidates that the account controls, directly or through others. An account without a person acts for those who
     * decide about it, who are then among them.
     */
    async controlledBy(accountId: number, candidates: Iterable<number>, now: Instant): Promise<ReadonlySet<number>> {
      const others = [...candidates].filter(id => id !== accountId)
      const own = await deciders(accountId)
      const controllers = await controllersOf(others, now)
      return new Set(others.filter(id => own.some(controller => controllers.get(id)!.has(controller))))
    },
  }
}

function reachableFrom(id: number, parents: ReadonlyMap<number, readonly number[]>): ReadonlySet<number> {
  const reached = new Set([id])
  for (const each of reached) for (const parent of parents.get(each) ?? []) reached.add(parent)
  return reached
}
