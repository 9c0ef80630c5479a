import type { Kysely } from 'kysely'
import type { Tables } from '../tables.generated.ts'
import { ImportError } from './read-export.ts'
import type { Row } from './rows.ts'
import type { Survey } from './survey-export.ts'

/** Who and what here stands for those that an export names, and what a person has to know about it. */
export interface Counterparts {
  readonly ids: ReadonlyMap<unknown, number | string>
  readonly notes: readonly string[]
}

export interface Place {
  readonly id: string
  readonly name: string
}

/** The requested organization, or the one that the project came from, or the only one. Raises ImportError. */
export async function findOrganization(tx: Kysely<Tables>, wanted: string | undefined, origin: Row): Promise<Place> {
  const all = await tx.selectFrom('organizations').select(['id', 'name', 'slug']).orderBy('created_at').execute()
  const organization =
    wanted === undefined
      ? (all.find(({ id }) => id === origin.id) ?? (all.length === 1 ? all[0] : undefined))
      : only(all.filter(({ id, slug, name }) => [id, slug, name].includes(wanted)))
  if (organization) return organization
  const choice = all.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  const problem =
    wanted === undefined ? 'Say which organization gets the project' : `"${wanted}" is no one organization here`
  throw new ImportError(`${problem}: --organization <id, slug or name>. There are:\n${choice}`)
}

const only = <T>(items: readonly T[]): T | undefined => (items.length === 1 ? items[0] : undefined)

/**
 * People are known by their email address. An import grants no one access: a user without an account here gets one that cannot be used until they are
 * invited, so that what they did stays under their name.
 */
export async function findPeople(
  tx: Kysely<Tables>,
  users: readonly Row[],
  organization: Place,
  newUuid: () => string,
): Promise<Counterparts> {
  const ids = new Map<unknown, number>()
  const unknown: string[] = []
  const outside: string[] = []
  for (const user of users as readonly (Row & Omit<Tables['users'], 'id'>)[]) {
    const account = await tx
      .selectFrom('users')
      .leftJoin('memberships', join =>
        join.onRef('memberships.user_id', '=', 'users.id').on('memberships.organization_id', '=', organization.id),
      )
      .select(['users.id', 'memberships.id as membership'])
      .where('users.email', '=', user.email)
      .executeTakeFirst()
    ids.set(user.id, account?.id ?? (await createIdleAccount(tx, user, newUuid)))
    if (!account) unknown.push(user.email)
    else if (!account.membership) outside.push(user.email)
  }
  const notes = [
    ...(unknown.length > 0
      ? [`No account here: ${unknown.join(', ')}. What they did is kept under their names; invite them to let them in.`]
      : []),
    ...(outside.length > 0 ? [`Not in ${organization.name}: ${outside.join(', ')}. Invite them to let them in.`] : []),
  ]
  return { ids, notes }
}

async function createIdleAccount(
  tx: Kysely<Tables>,
  user: Row & Omit<Tables['users'], 'id'>,
  newUuid: () => string,
): Promise<number> {
  const taken = await tx
    .selectFrom('users')
    .select('id')
    .where(({ or }) => or({ uuid: user.uuid, distinct_id: user.distinct_id }))
    .executeTakeFirst()
  const { id } = await tx
    .insertInto('users')
    .values({
      uuid: taken ? newUuid() : user.uuid,
      distinct_id: taken ? newUuid() : user.distinct_id,
      first_name: user.first_name,
      email: user.email,
      password_hash: null,
      is_email_verified: 0,
      is_active: 0,
      current_organization_id: null,
      current_project_id: null,
      date_joined: user.date_joined,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Roles are known by their name. One that is missing is made without members: a role opens other projects too. */
export async function findRoles(
  tx: Kysely<Tables>,
  roles: readonly Row[],
  organization: Place,
  people: Counterparts,
  newUuid: () => string,
): Promise<Counterparts> {
  const ids = new Map<unknown, string>()
  const notes: string[] = []
  for (const role of roles) {
    const existing = await tx
      .selectFrom('roles')
      .select('id')
      .where('organization_id', '=', organization.id)
      .where('name_folded', '=', String(role.name_folded))
      .executeTakeFirst()
    const id = existing?.id ?? newUuid()
    ids.set(role.id, id)
    if (existing) continue
    await tx
      .insertInto('roles')
      .values({
        id,
        organization_id: organization.id,
        name: String(role.name),
        name_folded: String(role.name_folded),
        access_level: Number(role.access_level),
        created_by_id: people.ids.get(role.created_by_id) as number,
        created_at: String(role.created_at),
      })
      .execute()
    notes.push(`The role ${role.name} was missing and has been made, without members: add them.`)
  }
  return { ids, notes }
}

/**
 * A plugin that was installed from an address is the one that was installed here from the same address; another one is the same when its
 * code is, letter by letter. The others come along.
 */
export async function findPlugins(tx: Kysely<Tables>, survey: Survey, organization: Place): Promise<Counterparts> {
  const ids = new Map<unknown, number>()
  const notes: string[] = []
  const here = await tx
    .selectFrom('plugins')
    .select(['id', 'organization_id', 'plugin_type', 'name', 'install_key', 'tag'])
    .where(({ or }) => or({ organization_id: organization.id, is_global: 1 }))
    .orderBy('id')
    .execute()
  const free = new Set(here)
  for (const plugin of survey.plugins) {
    const own = [...free].filter(other => other.organization_id === organization.id)
    let match = own.find(({ install_key }) => install_key !== null && install_key === plugin.install_key)
    for (const other of free) {
      if (match || other.plugin_type !== plugin.plugin_type || other.name !== plugin.name) continue
      if (await hasFiles(tx, other.id, survey.pluginFiles.get(plugin.id) ?? new Map())) match = other
    }
    if (!match) {
      notes.push(
        `The plugin ${plugin.name} comes along${plugin.is_global === 1 ? ', for this organization alone' : ''}.`,
      )
      continue
    }
    free.delete(match)
    ids.set(plugin.id, match.id)
    const versions =
      match.tag === plugin.tag
        ? ''
        : ` It is ${match.tag ?? 'untagged'} here and was ${plugin.tag ?? 'untagged'} there.`
    notes.push(`The plugin ${plugin.name} is here already and is used.${versions}`)
  }
  return { ids, notes }
}

async function hasFiles(tx: Kysely<Tables>, pluginId: number, files: ReadonlyMap<string, string>): Promise<boolean> {
  const own = await tx.selectFrom('plugin_files').select(['name', 'source']).where('plugin_id', '=', pluginId).execute()
  return own.length === files.size && own.every(({ name, source }) => files.get(name) === source)
}
