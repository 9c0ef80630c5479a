import { randomBytes } from 'node:crypto'
import { announceIdentity } from '../features/identity/announce-identity.ts'
import { checkedEmail } from '../features/identity/email.ts'
import { newUuid } from '../features/identity/secret.ts'
import { hashPassword } from '../features/identity/sign-in/password.ts'
import { instantOf } from '../instant.ts'
import { adminLevel, memberLevel } from '../tenancy.ts'
import { getAccount } from './keys.ts'
import { readOptions, required, UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

/** `halyard users create|reset-password|promote|demote` */
export async function users([action, ...args]: string[]): Promise<void> {
  const { values } = readOptions(args, ['email', 'first-name', 'level'])
  const email = required(values.email, '--email')
  if (action === 'create') {
    return create(checkedEmail(email, '--email'), values['first-name'] ?? email.split('@')[0] ?? '', values.level)
  }
  if (action === 'reset-password') return resetPassword(email)
  if (action === 'promote' || action === 'demote') return setStaff(email, action === 'promote')
  throw new UsageError('Use: halyard users create|reset-password|promote|demote. See: halyard help')
}

/** Into the first organization, with a password that is shown once. */
async function create(email: string, firstName: string, level = 'member'): Promise<void> {
  if (level !== 'member' && level !== 'admin') throw new UsageError('--level is member or admin.')
  const password = newPassword()
  const passwordHash = await hashPassword(password)
  const now = instantOf(new Date())
  await withDatabase(database =>
    database.transaction(async tx => {
      const project = await tx.projects.findFirst()
      if (!project) throw new UsageError('There is no organization yet: start Halyard once first.')
      const account = await tx.identity.createAccount({
        uuid: newUuid(),
        distinctId: newUuid(),
        firstName,
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
        level: level === 'admin' ? adminLevel : memberLevel,
        joinedAt: now,
        updatedAt: now,
      })
    }),
  )
  console.log(`Created ${email}. Password, shown once: ${password}`)
}

/** Ends every sign-in of the user; personal API keys stay. */
async function resetPassword(email: string): Promise<void> {
  const password = newPassword()
  const passwordHash = await hashPassword(password)
  await withDatabase(database =>
    database.transaction(async tx => {
      const account = await getAccount(tx, email)
      await tx.identity.updateAccount(account.id, { passwordHash })
      await tx.identity.removeKeys(account.id, 'sessions')
      await announceIdentity(tx, account.id, instantOf(new Date()))
    }),
  )
  console.log(`New password of ${email}, shown once: ${password}`)
}

/** Instance administrators decide what organizations may do with plugins. */
async function setStaff(email: string, isStaff: boolean): Promise<void> {
  await withDatabase(database =>
    database.transaction(async tx => {
      const account = await getAccount(tx, email)
      await tx.identity.updateAccount(account.id, { isStaff })
      await announceIdentity(tx, account.id, instantOf(new Date()))
    }),
  )
  console.log(`${email} is ${isStaff ? 'now' : 'no longer'} an instance administrator.`)
}

const newPassword = (): string => randomBytes(12).toString('base64url')
