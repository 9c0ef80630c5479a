import { randomBytes } from 'node:crypto'
import type { Instant } from '../../instant.ts'
import { originOf } from '../../origin.ts'
import { Problem } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import { storeNewKey } from '../identity/create-key.ts'
import type { BootstrapOptions, FirstOwner } from '../identity/first-start/first-owner.ts'
import { newSecret, newUuid } from '../identity/secret.ts'
import type { Passwords } from '../identity/sign-in/password.ts'
import { rootLevel } from '../plugins/plugin-access.ts'
import { createOrganization } from './create-organization.ts'

/** On an empty database: an organization, a project and an owner with a key. Undefined when an account exists. */
export async function bootstrap(
  database: Database,
  passwords: Passwords,
  options: BootstrapOptions,
  onCreated: (tx: Stores, owner: FirstOwner) => Promise<void>,
  now: Instant,
): Promise<FirstOwner | undefined> {
  if ((await database.read(tx => tx.identity.countAccounts())) > 0) return undefined
  const password = options.password ?? randomBytes(12).toString('base64url')
  const passwordHash = await passwords.hash(password)
  try {
    return await database.transaction(async tx => {
      const owner = await tx.identity.createAccount({
        uuid: newUuid(),
        distinctId: newUuid(),
        firstName: 'Owner',
        email: options.email,
        isEmailVerified: true,
        passwordHash,
        isActive: true,
        isStaff: true,
        currentOrganizationId: null,
        currentProjectId: null,
        dateJoined: now,
      })
      const { project } = await createOrganization(
        tx,
        { user: owner, key: { label: 'First start' }, origin: originOf('first_start') },
        { organization: 'My organization', project: 'Default project', pluginsAccessLevel: rootLevel },
        now,
      )
      const fields = { label: 'First key', scopes: ['*'], projectIds: [], organizationIds: [], expiresAt: null }
      const { key, value } = await storeNewKey(tx, owner.id, fields, now, options.key ?? newSecret('phx_'))
      const first: FirstOwner = {
        userId: owner.id,
        keyId: key.id,
        passwordHash,
        email: owner.email,
        password,
        key: value,
        projectId: project.id,
        projectToken: project.apiToken,
      }
      await onCreated(tx, first)
      return first
    })
  } catch (error) {
    // Two nodes started at once on one empty database, and the other one was first.
    if (error instanceof Problem && error.code === 'unique') return undefined
    throw error
  }
}
