import type { ActivityFilter } from '../../domain/activity.ts'
import { parseInstant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'

type Query = Partial<Record<'user' | 'activity' | 'entry_id' | 'date_from' | 'date_to', string>>

/** No user has this id. */
const unknownUserId = -1

/** A user is given by id, UUID or email; an unknown one matches no entries. Invalid dates are ignored. */
export async function readActivityFilter(
  tx: Stores,
  query: Query,
): Promise<Pick<ActivityFilter, 'userId' | 'activity' | 'entryId' | 'from' | 'to'>> {
  const from = query.date_from === undefined ? undefined : parseInstant(query.date_from)
  const to = query.date_to === undefined ? undefined : parseInstant(query.date_to)
  return {
    ...(query.user && { userId: await userIdOf(tx, query.user) }),
    ...(query.activity && { activity: query.activity }),
    ...(/^\d{1,15}$/.test(query.entry_id ?? '') && { entryId: Number(query.entry_id) }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  }
}

async function userIdOf(tx: Stores, text: string): Promise<number> {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const account = text.includes('@')
    ? await tx.identity.findAccountByEmail(text)
    : await tx.identity.findAccountByUuid(text)
  return account?.id ?? unknownUserId
}
