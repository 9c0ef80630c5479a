import type { Storage } from '../../storage/open-storage.ts'

/** Every account with the names of its organizations, oldest first. */
export async function listAccounts(kysely: Storage['kysely']) {
  const users = await kysely
    .selectFrom('users')
    .select(['id', 'email', 'first_name', 'is_active', 'date_joined'])
    .orderBy('id')
    .execute()
  const memberships = await kysely
    .selectFrom('memberships')
    .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
    .select(['memberships.user_id', 'organizations.name'])
    .orderBy('organizations.name')
    .execute()
  return users.map(({ id, is_active, ...user }) => ({
    ...user,
    active: is_active === 1,
    organizations: memberships.filter(({ user_id }) => user_id === id).map(({ name }) => name),
  }))
}
