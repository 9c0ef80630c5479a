import { type AuditRecord, commandLine, recordAudit } from '../../features/audit/record-audit.ts'
import type { Account } from '../../features/identity/account.ts'
import { announceIdentity } from '../../features/identity/announce-identity.ts'
import { type ApiKey, canonicalScopes, checkScopes } from '../../features/identity/api-key.ts'
import { storeNewKey } from '../../features/identity/create-key.ts'
import { type Instant, instantOf, plusMilliseconds } from '../../instant.ts'
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
  const scopes = canonicalScopes(options.scopes.split(',').map(scope => scope.trim()))
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
      const shown = { label: options.label, scopes, expires_at: fields.expiresAt }
      await recordKey(tx, 'keys create', account, created.key, { activity: 'created', after: shown }, now)
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
      const key = await tx.identity.findKey(account.id, keyId)
      if (!key || !(await tx.identity.removeKey(account.id, keyId)))
        throw new CommandError(`${options.email} has no key ${keyId}. See: halyard keys list --email ${options.email}`)
      const now = instantOf(new Date())
      await recordKey(tx, 'keys revoke', account, key, { activity: 'deleted', before: { label: key.label } }, now)
      await announceIdentity(tx, account.id, now)
    }),
  )
  console.log(`Revoked ${keyId}.`)
}

/** In the log of each organization that the owner of the key belongs to. */
async function recordKey(
  tx: Stores,
  operation: string,
  account: Account,
  { id, label }: ApiKey,
  record: Pick<AuditRecord, 'activity' | 'before' | 'after'>,
  now: Instant,
): Promise<void> {
  const organizationIds = await tx.identity.listOrganizationIds(account.id)
  const key = { scope: 'ApiKey', itemId: id, name: label, ...record } as const
  recordAudit(tx, commandLine(operation), organizationIds, key, now)
}

export async function getAccount(tx: Stores, email: string): Promise<Account> {
  const account = await tx.identity.findAccountByEmail(email)
  if (!account) throw new CommandError(`There is no user with the email address ${email}. See: halyard users list`)
  return account
}
