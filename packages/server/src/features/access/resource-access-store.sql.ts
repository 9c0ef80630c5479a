import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { alreadyTaken } from '../../storage/driver-error.ts'
import { readPage } from '../../storage/read-page.ts'
import { updateSent } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import type { AccessLevel, ResourceAccess } from './access.ts'

/** What every member of an organization can do with a kind of resource. */
export function sqlResourceAccessStore(db: Kysely<Tables>) {
  const settings = () =>
    db
      .selectFrom('resource_access')
      .innerJoin('users as creator', 'creator.id', 'resource_access.created_by_id')
      .selectAll('resource_access')
      .select(embeddedUser('creator'))

  return {
    async find(organizationId: string, id: number): Promise<ResourceAccess | undefined> {
      const row = await settings()
        .where('resource_access.organization_id', '=', organizationId)
        .where('resource_access.id', '=', id)
        .executeTakeFirst()
      return row && toResourceAccess(row)
    },
    async findFor(organizationId: string, resource: string): Promise<ResourceAccess | undefined> {
      const row = await settings()
        .where('resource_access.organization_id', '=', organizationId)
        .where('resource_access.resource', '=', resource)
        .executeTakeFirst()
      return row && toResourceAccess(row)
    },
    /** Raises `invalid` (`unique`, `resource`) when the resource is set already. */
    async create(access: Omit<ResourceAccess, 'id'>): Promise<ResourceAccess> {
      try {
        const { id } = await db
          .insertInto('resource_access')
          .values({
            organization_id: access.organizationId,
            resource: access.resource,
            access_level: access.accessLevel,
            created_by_id: access.createdBy.id,
            created_at: access.createdAt,
            updated_at: access.updatedAt,
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        return { ...access, id }
      } catch (error) {
        throw alreadyTaken(error, 'resource', 'Access to this resource is set already; change that setting instead.')
      }
    },
    /** An undefined level stays as it is. */
    update: (id: number, accessLevel: AccessLevel | undefined, at: Instant): Promise<void> =>
      updateSent(db, 'resource_access', id, { access_level: accessLevel, updated_at: at }),
    async remove(id: number): Promise<void> {
      await db.deleteFrom('resource_access').where('id', '=', id).execute()
    },
    list(organizationId: string, window: Window): Promise<PageOf<ResourceAccess>> {
      const query = settings()
        .where('resource_access.organization_id', '=', organizationId)
        .orderBy('resource_access.id')
      return readPage(query, window, toResourceAccess)
    },
  }
}

const toResourceAccess = (row: Selectable<Tables['resource_access']> & EmbeddedUser<'creator'>): ResourceAccess => ({
  id: row.id,
  organizationId: row.organization_id,
  resource: row.resource,
  accessLevel: row.access_level as AccessLevel,
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
