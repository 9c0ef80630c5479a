import { announceIdentity } from '../features/identity/announce-identity.ts'
import { checkScopes } from '../features/identity/api-key.ts'
import { storeNewKey } from '../features/identity/create-key.ts'
import type { Account } from '../features/identity/identity-store.ts'
import { instantOf, plusMilliseconds } from '../instant.ts'
import { missing } from '../problem.ts'
import type { Stores } from '../stores.ts'
import { readOptions, required, UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000

/** `halyard keys create|list|revoke` */
export async function keys([action, ...args]: string[]): Promise<void> {
  const { values, positionals } = readOptions(args, ['email', 'label', 'scopes', 'expires-in-days'])
  const email = required(values.email, '--email')
  await withDatabase(database =>
    database.transaction(async tx => {
      const account = await getAccount(tx, email)
      switch (action) {
        case 'create':
          return create(tx, account, values)
        case 'list':
          return list(tx, account)
        case 'revoke':
          return revoke(tx, account, required(positionals[0], '<key id>'))
        default:
          throw new UsageError('Use: halyard keys create|list|revoke. See: halyard help')
      }
    }),
  )
}

async function create(
  tx: Stores,
  account: Account,
  values: { label?: string; scopes?: string; 'expires-in-days'?: string },
): Promise<void> {
  const now = instantOf(new Date())
  const scopes = (values.scopes ?? '*').split(',').map(scope => scope.trim())
  checkScopes(scopes, undefined)
  const days = values['expires-in-days']
  if (days !== undefined && !/^[1-9]\d{0,4}$/.test(days))
    throw new UsageError('--expires-in-days takes a whole number.')
  const fields = {
    label: values.label ?? 'Command line',
    scopes,
    projectIds: [],
    organizationIds: [],
    expiresAt: days === undefined ? null : plusMilliseconds(now, Number(days) * dayMilliseconds),
  }
  const { key, value } = await storeNewKey(tx, account.id, fields, now)
  await announceIdentity(tx, account.id, now)
  console.log(`Key ${key.id} (${key.label}), shown once:\n${value}`)
}

async function list(tx: Stores, account: Account): Promise<void> {
  for (const key of await tx.identity.listKeys(account.id)) {
    const expiry = key.expiresAt ? `expires ${key.expiresAt}` : 'does not expire'
    console.log(
      [key.id, key.mask, key.label, key.scopes.join(','), `last used ${key.lastUsedAt ?? 'never'}`, expiry].join('  '),
    )
  }
}

async function revoke(tx: Stores, account: Account, keyId: string): Promise<void> {
  if (!(await tx.identity.removeKey(account.id, keyId))) throw missing(`Key ${keyId}`)
  await announceIdentity(tx, account.id, instantOf(new Date()))
  console.log(`Revoked ${keyId}.`)
}

export async function getAccount(tx: Stores, email: string): Promise<Account> {
  const account = await tx.identity.findAccountByEmail(email)
  if (!account) throw missing(`A user with the email address ${email} was`)
  return account
}
