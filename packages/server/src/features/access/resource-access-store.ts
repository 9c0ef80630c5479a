import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import type { AccessLevel, ResourceAccess } from './access.ts'

/** What every member of an organization can do with a kind of resource. */
export interface ResourceAccessStore {
  find(organizationId: string, id: number): Promise<ResourceAccess | undefined>
  findFor(organizationId: string, resource: string): Promise<ResourceAccess | undefined>
  /** Raises `invalid` (`unique`, `resource`) when the resource is set already. */
  create(access: Omit<ResourceAccess, 'id'>): Promise<ResourceAccess>
  /** An undefined level stays as it is. */
  update(id: number, accessLevel: AccessLevel | undefined, at: Instant): Promise<void>
  remove(id: number): Promise<void>
  list(organizationId: string, window: Window): Promise<PageOf<ResourceAccess>>
}
