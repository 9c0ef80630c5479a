import type { Account } from '../../features/identity/account.ts'
import { announceIdentity } from '../../features/identity/announce-identity.ts'
import { checkScopes } from '../../features/identity/api-key.ts'
import { storeNewKey } from '../../features/identity/create-key.ts'
import { instantOf, plusMilliseconds } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { printJson, printRows } from '../output.ts'
import { CommandError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000

interface Options {
  readonly email: string
  readonly json?: boolean
}

/** `halyard keys create` */
export async function createKey(
  options: Options & {
    readonly label: string
    readonly scopes: string
    readonly expiresInDays?: number
    readonly quiet?: boolean
  },
): Promise<void> {
  const scopes = options.scopes.split(',').map(scope => scope.trim())
  checkScopes(scopes, undefined)
  const now = instantOf(new Date())
  const { key, value } = await withDatabase(database =>
    database.transaction(async tx => {
      const account = await getAccount(tx, options.email)
      const days = options.expiresInDays
      const fields = {
        label: options.label,
        scopes,
        projectIds: [],
        organizationIds: [],
        expiresAt: days === undefined ? null : plusMilliseconds(now, days * dayMilliseconds),
      }
      const created = await storeNewKey(tx, account.id, fields, now)
      await announceIdentity(tx, account.id, now)
      return created
    }),
  )
  const { id, label, expiresAt } = key
  if (options.json) return printJson({ id, label, scopes, expires_at: expiresAt, value })
  console.log(options.quiet ? value : `Key ${id} (${label}), shown once:\n${value}`)
}

/** `halyard keys list` */
export async function listKeys(options: Options): Promise<void> {
  const keys = await withDatabase(database =>
    database.read(async tx => tx.identity.listKeys((await getAccount(tx, options.email)).id)),
  )
  const rows = keys.map(({ id, mask, label, scopes, lastUsedAt, expiresAt, createdAt }) => ({
    id,
    label,
    mask,
    scopes,
    created_at: createdAt,
    last_used_at: lastUsedAt,
    expires_at: expiresAt,
  }))
  printRows(rows, ['id', 'mask', 'label', 'scopes', 'last_used_at', 'expires_at'], options)
}

/** `halyard keys revoke <id>` */
export async function revokeKey(keyId: string, options: Options): Promise<void> {
  await withDatabase(database =>
    database.transaction(async tx => {
      const account = await getAccount(tx, options.email)
      if (!(await tx.identity.removeKey(account.id, keyId)))
        throw new CommandError(`${options.email} has no key ${keyId}. See: halyard keys list --email ${options.email}`)
      await announceIdentity(tx, account.id, instantOf(new Date()))
    }),
  )
  console.log(`Revoked ${keyId}.`)
}

export async function getAccount(tx: Stores, email: string): Promise<Account> {
  const account = await tx.identity.findAccountByEmail(email)
  if (!account) throw new CommandError(`There is no user with the email address ${email}. See: halyard users list`)
  return account
}
