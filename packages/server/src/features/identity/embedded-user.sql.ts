import type { Kysely } from 'kysely'
import { inParts } from '../../storage/in-batches.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { User } from '../../tenancy.ts'

/** A user inside a row of something else, selected by a join under a prefix of its own: `creator_email` and so on. */

type UserColumns<Alias extends string, Nullable> = {
  [Column in 'id' | 'is_email_verified' as `${Alias}_${Column}`]: number | Nullable
} & { [Column in 'uuid' | 'distinct_id' | 'first_name' | 'email' as `${Alias}_${Column}`]: string | Nullable }

export type EmbeddedUser<Alias extends string> = UserColumns<Alias, never>
export type OptionalUser<Alias extends string> = UserColumns<Alias, null>

/** The columns to select when `users` is joined as `alias`. */
export const embeddedUser = <Alias extends string>(alias: Alias) =>
  [
    `${alias}.id as ${alias}_id`,
    `${alias}.uuid as ${alias}_uuid`,
    `${alias}.distinct_id as ${alias}_distinct_id`,
    `${alias}.first_name as ${alias}_first_name`,
    `${alias}.email as ${alias}_email`,
    `${alias}.is_email_verified as ${alias}_is_email_verified`,
  ] as const

export function readUser<Alias extends string>(row: EmbeddedUser<Alias>, alias: Alias): User {
  const user = readOptionalUser(row as OptionalUser<Alias>, alias)
  if (!user) throw new Error(`The row has no ${alias}.`)
  return user
}

/** Null when the join found no user. */
export function readOptionalUser<Alias extends string>(row: OptionalUser<Alias>, alias: Alias): User | null {
  const columns = row as Record<string, string | number | null>
  if (columns[`${alias}_id`] === null) return null
  return {
    id: columns[`${alias}_id`] as number,
    uuid: columns[`${alias}_uuid`] as string,
    distinctId: columns[`${alias}_distinct_id`] as string,
    firstName: columns[`${alias}_first_name`] as string,
    email: columns[`${alias}_email`] as string,
    isEmailVerified: columns[`${alias}_is_email_verified`] === 1,
  }
}

const parametersMax = 1000

/** By id, each once: joining the same few users to a thousand rows takes half as long again. */
export async function findUsers(db: Kysely<Tables>, ids: ReadonlySet<number>): Promise<ReadonlyMap<number, User>> {
  const users = new Map<number, User>()
  for (const part of inParts([...ids], parametersMax)) {
    const query = db.selectFrom('users as found').select(embeddedUser('found')).where('found.id', 'in', part)
    for (const row of await query.execute()) users.set(row.found_id, readUser(row, 'found'))
  }
  return users
}
