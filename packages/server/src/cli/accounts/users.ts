import { randomBytes } from 'node:crypto'
import { readConfig } from '../../config.ts'
import { type AuditRecord, commandLine, recordAudit } from '../../features/audit/record-audit.ts'
import type { Account } from '../../features/identity/account.ts'
import { announceIdentity } from '../../features/identity/announce-identity.ts'
import { checkedEmail } from '../../features/identity/email.ts'
import { newUuid } from '../../features/identity/secret.ts'
import { createPasswords } from '../../features/identity/sign-in/password.ts'
import { resetFactors } from '../../features/second-factor/change-factors.ts'
import { type Instant, instantOf } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { adminLevel, auditorLevel, memberLevel, viewOnlyLevel } from '../../tenancy.ts'
import { printJson, printRows } from '../output.ts'
import { CommandError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'
import { getAccount } from './keys.ts'
import { listAccounts } from './list-accounts.sql.ts'

interface Options {
  readonly email: string
  readonly json?: boolean
}

const levelOf = { auditor: auditorLevel, 'view-only': viewOnlyLevel, member: memberLevel, admin: adminLevel } as const

/** `halyard users list` */
export async function listUsers(options: { readonly json?: boolean }): Promise<void> {
  const rows = await withDatabase((_database, { kysely }) => listAccounts(kysely))
  printRows(rows, ['email', 'first_name', 'active', 'organizations', 'date_joined'], options)
}

/** `halyard users create`: in the first organization, with a password that is shown once. */
export async function createUser(
  options: Options & { readonly firstName?: string; readonly level: keyof typeof levelOf },
): Promise<void> {
  const email = checkedEmail(options.email, '--email')
  const password = newPassword()
  const passwordHash = await createPasswords(readConfig(process.env).passwordCost).hash(password)
  const now = instantOf(new Date())
  await withDatabase(database =>
    database.transaction(async tx => {
      const project = await tx.projects.findFirst()
      if (!project) throw new CommandError('There is no organization yet. Start Halyard once.')
      const account = await tx.identity.createAccount({
        uuid: newUuid(),
        distinctId: newUuid(),
        firstName: options.firstName ?? email.split('@')[0] ?? '',
        email,
        isEmailVerified: true,
        passwordHash,
        isActive: true,
        isStaff: false,
        currentOrganizationId: project.organizationId,
        currentProjectId: project.id,
        dateJoined: now,
      })
      await tx.organizations.addMember({
        id: newUuid(),
        organizationId: project.organizationId,
        userId: account.id,
        level: levelOf[options.level],
        joinedAt: now,
        updatedAt: now,
      })
      const level = levelOf[options.level]
      const member = {
        scope: 'Member',
        itemId: account.uuid,
        name: email,
        activity: 'created',
        after: { level },
      } as const
      recordAudit(tx, commandLine('users create'), project, member, now)
    }),
  )
  if (options.json) return printJson({ email, level: options.level, password })
  console.log(`Created ${email}. Password, shown once: ${password}`)
}

/**
 * `halyard users reset-password`: ends every sign-in of the user; personal API keys stay. With `--verify-email` the address counts as
 * proven, as by the link in an email: keys and second factors of a user who entered it before are removed.
 */
export async function resetPassword(options: Options & { readonly verifyEmail?: boolean }): Promise<void> {
  const password = newPassword()
  const passwordHash = await createPasswords(readConfig(process.env).passwordCost).hash(password)
  await withDatabase(database =>
    database.transaction(async tx => {
      const account = await getAccount(tx, options.email)
      const isProven = options.verifyEmail === true && !account.isEmailVerified
      await tx.identity.updateAccount(account.id, { passwordHash, ...(isProven && { isEmailVerified: true }) })
      await tx.identity.removeKeys(account.id, isProven ? 'all' : 'sessions')
      if (isProven) await tx.secondFactors.removeAll(account.id)
      const now = instantOf(new Date())
      const { isEmailVerified: before } = account
      const fields = { before: { email_verified: before }, after: { email_verified: before || isProven } }
      await recordAccount(tx, 'users reset-password', account, { activity: 'password_reset', ...fields }, now)
      await announceIdentity(tx, account.id, now)
    }),
  )
  if (options.json) return printJson({ email: options.email, password })
  console.log(`New password of ${options.email}, shown once: ${password}`)
}

/** `halyard users reset-second-factor`: for a lost device; ends every sign-in of the user. */
export async function resetSecondFactor(options: Options): Promise<void> {
  await withDatabase(database =>
    database.transaction(async tx => {
      const account = await getAccount(tx, options.email)
      const now = instantOf(new Date())
      await resetFactors(tx, account.id, now)
      await recordAccount(tx, 'users reset-second-factor', account, { activity: 'second_factor_reset' }, now)
    }),
  )
  if (options.json) return printJson({ email: options.email })
  console.log(`${options.email} has no second factor now, and signs in with the password alone.`)
}

/** `halyard users promote|demote`: instance administrators decide what organizations may do with plugins. */
export async function setStaff(isStaff: boolean, options: Options): Promise<void> {
  await withDatabase(database =>
    database.transaction(async tx => {
      const account = await getAccount(tx, options.email)
      await tx.identity.updateAccount(account.id, { isStaff })
      const now = instantOf(new Date())
      const fields = { before: { is_staff: account.isStaff }, after: { is_staff: isStaff } }
      const operation = isStaff ? 'users promote' : 'users demote'
      await recordAccount(tx, operation, account, { activity: 'updated', ...fields }, now)
      await announceIdentity(tx, account.id, now)
    }),
  )
  if (options.json) return printJson({ email: options.email, is_staff: isStaff })
  console.log(`${options.email} is ${isStaff ? 'now' : 'no longer'} an instance administrator.`)
}

/** In the log of each organization that the user belongs to. */
async function recordAccount(
  tx: Stores,
  operation: string,
  { id, uuid, email }: Account,
  record: Pick<AuditRecord, 'activity' | 'before' | 'after'>,
  now: Instant,
): Promise<void> {
  const organizationIds = await tx.identity.listOrganizationIds(id)
  const account = { scope: 'Account', itemId: uuid, name: email, ...record } as const
  recordAudit(tx, commandLine(operation), organizationIds, account, now)
}

const newPassword = (): string => randomBytes(12).toString('base64url')
