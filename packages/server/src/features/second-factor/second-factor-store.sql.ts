import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../../instant.ts'
import { countRows } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { PasskeyFactor, SecondFactor } from './second-factor.ts'

export function sqlSecondFactorStore(db: Kysely<Tables>) {
  return {
    /** Oldest first. */
    async list(userId: number): Promise<readonly SecondFactor[]> {
      const rows = await db
        .selectFrom('second_factors')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
      return rows.map(toFactor)
    },
    async findPasskey(credentialId: string): Promise<PasskeyFactor | undefined> {
      const row = await db
        .selectFrom('second_factors')
        .selectAll()
        .where('credential_id', '=', credentialId)
        .executeTakeFirst()
      return row && (toFactor(row) as PasskeyFactor)
    },
    async create(factor: SecondFactor): Promise<void> {
      await db.insertInto('second_factors').values(fromFactor(factor)).execute()
    },
    /** False when there was none. */
    async remove(userId: number, id: string): Promise<boolean> {
      const result = await db
        .deleteFrom('second_factors')
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    /** With the recovery codes. False when the user had no factor. */
    async removeAll(userId: number): Promise<boolean> {
      await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
      const result = await db.deleteFrom('second_factors').where('user_id', '=', userId).executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    /** Records the use. False when the counter is not above the stored one: of two uses of one code, the second. */
    async advance(id: string, counter: number, now: Instant): Promise<boolean> {
      const result = await db
        .updateTable('second_factors')
        .set({ counter, last_used_at: now })
        .where('id', '=', id)
        .where('counter', '<', counter)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },
    /** For passkeys without a counter, which always send 0. */
    async touch(id: string, now: Instant): Promise<void> {
      await db.updateTable('second_factors').set({ last_used_at: now }).where('id', '=', id).execute()
    },

    async replaceRecoveryCodes(userId: number, hashes: readonly string[]): Promise<void> {
      // Writing the row locks it on PostgreSQL: two requests at once must not leave the codes of both.
      await db
        .updateTable('users')
        .set(({ ref }) => ({ first_name: ref('first_name') }))
        .where('id', '=', userId)
        .execute()
      await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
      if (hashes.length === 0) return
      await db
        .insertInto('recovery_codes')
        .values(hashes.map(hash => ({ hash, user_id: userId })))
        .execute()
    },
    /** False when there is none: unknown, or used before. */
    async useRecoveryCode(userId: number, hash: string): Promise<boolean> {
      const result = await db
        .deleteFrom('recovery_codes')
        .where('user_id', '=', userId)
        .where('hash', '=', hash)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
    countRecoveryCodes: (userId: number): Promise<number> =>
      countRows(db.selectFrom('recovery_codes').where('user_id', '=', userId)),
  }
}

function toFactor(row: Selectable<Tables['second_factors']>): SecondFactor {
  const base = {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }
  if (row.kind === 'code') return { ...base, kind: 'code', sealedSecret: row.secret, lastStep: row.counter }
  return {
    ...base,
    kind: 'passkey',
    credentialId: row.credential_id ?? '',
    publicKey: row.secret,
    rpId: row.rp_id ?? '',
    transports: JSON.parse(row.transports),
    signatures: row.counter,
  }
}

const fromFactor = (factor: SecondFactor): Tables['second_factors'] => ({
  id: factor.id,
  user_id: factor.userId,
  kind: factor.kind,
  name: factor.name,
  created_at: factor.createdAt,
  last_used_at: factor.lastUsedAt,
  ...(factor.kind === 'code'
    ? { secret: factor.sealedSecret, credential_id: null, rp_id: null, transports: '[]', counter: factor.lastStep }
    : {
        secret: factor.publicKey,
        credential_id: factor.credentialId,
        rp_id: factor.rpId,
        transports: JSON.stringify(factor.transports),
        counter: factor.signatures,
      }),
})
