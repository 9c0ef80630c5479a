import { type AnswerOf, routes, scimGroupSchema, scimUserSchema } from '@halyard/contract'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { missing } from '../../problem.ts'
import type { Database } from '../../stores.ts'
import type { Organization } from '../../tenancy.ts'
import { patchUser, readOperations } from './patch-scim-user.ts'
import {
  createScimGroup,
  getScimGroup,
  removeScimGroup,
  type ScimGroupWithMembers,
  updateScimGroup,
} from './save-scim-group.ts'
import { createScimUser, getScimUser, removeScimUser, updateScimUser } from './save-scim-user.ts'
import { listOf, resourceTypes, schemas, serviceProviderConfig } from './scim-discovery.ts'
import { readFilter } from './scim-filter.ts'
import { patchGroup, readScimGroup, type ScimGroup, scimGroupToWire } from './scim-group.ts'
import { excludesMembers, readScimWindow, scimPage, shownAttributes } from './scim-page.ts'
import { contentOf, readScimUser, type ScimUser, scimUserToWire } from './scim-user.ts'
import { requireSchema } from './scim-values.ts'

interface Deps extends RouteDeps {
  /** The address that the provider calls. */
  readonly originOf: (url: URL) => string
}

type RootOf = (url: URL, organization: Organization) => string
type UserWire = AnswerOf<typeof routes.scim.getUser>
type GroupWire = AnswerOf<typeof routes.scim.getGroup>

/** SCIM 2.0 (RFC 7644): users are members of the organization, groups its roles. */
export function serveScim(serve: ServeRoute, { database, originOf, now }: Deps): void {
  const r = routes.scim
  const rootOf: RootOf = (url, { id }) => `${originOf(url)}/scim/v2/${id}`
  serve(r.getServiceProviderConfig, async ({ url, organization }) => serviceProviderConfig(rootOf(url, organization)))
  serve(r.listSchemas, async ({ url, organization }) => listOf(schemas(rootOf(url, organization))))
  serve(r.getSchema, async ({ url, organization, params }) => oneOf(schemas(rootOf(url, organization)), params.id))
  serve(r.listResourceTypes, async ({ url, organization }) => listOf(resourceTypes(rootOf(url, organization))))
  serve(r.getResourceType, async ({ url, organization, params }) =>
    oneOf(resourceTypes(rootOf(url, organization)), params.id),
  )
  serveScimUsers(serve, database, rootOf, now)
  serveScimGroups(serve, database, rootOf, now)
}

function serveScimUsers(serve: ServeRoute, database: Database, rootOf: RootOf, now: () => Instant): void {
  const r = routes.scim
  const toWire = (user: ScimUser, root: string) => scimUserToWire(user, root) as UserWire

  serve(r.listUsers, async ({ organization, query, url }) => {
    const window = readScimWindow(query)
    const comparisons = readFilter(query.filter, ['username', 'externalid', 'id'])
    const page = await database.read(tx => tx.scimUsers.list(organization.id, comparisons, window))
    const root = rootOf(url, organization)
    return scimPage(page, window, user => shownAttributes(toWire(user, root), query)) as AnswerOf<typeof r.listUsers>
  })

  serve(r.createUser, async ({ actor, organization, body, url }) => {
    requireSchema(body, scimUserSchema)
    const content = readScimUser(body)
    const user = await database.transaction(tx => createScimUser(tx, actor, organization, content, now()))
    const wire = toWire(user, rootOf(url, organization))
    return answer({ status: 201, body: wire, headers: locationOf(wire) })
  })

  serve(r.getUser, async ({ organization, params, query, url }) => {
    const user = await database.read(tx => getScimUser(tx, organization, params.id))
    return shownAttributes(toWire(user, rootOf(url, organization)), query) as UserWire
  })

  serve(r.replaceUser, async ({ actor, organization, params, body, url }) => {
    requireSchema(body, scimUserSchema)
    const content = readScimUser(body)
    const user = await database.transaction(tx =>
      updateScimUser(tx, actor, organization, params.id, () => content, now()),
    )
    return toWire(user, rootOf(url, organization))
  })

  serve(r.patchUser, async ({ actor, organization, params, body, url }) => {
    const operations = readOperations(body)
    const user = await database.transaction(tx =>
      updateScimUser(
        tx,
        actor,
        organization,
        params.id,
        stored => readScimUser(patchUser(contentOf(stored), operations)),
        now(),
      ),
    )
    return toWire(user, rootOf(url, organization))
  })

  serve(r.deleteUser, async ({ actor, organization, params }) => {
    await database.transaction(tx => removeScimUser(tx, actor, organization, params.id, now()))
    return answer({ status: 204 })
  })
}

/** With members, a page can have thousands of them for each group. */
const groupsWithMembersMax = 20

function serveScimGroups(serve: ServeRoute, database: Database, rootOf: RootOf, now: () => Instant): void {
  const r = routes.scim
  const toWire = ({ group, members }: ScimGroupWithMembers, root: string) =>
    scimGroupToWire(group, members, root) as GroupWire

  serve(r.listGroups, async ({ organization, query, url }) => {
    const isShort = excludesMembers(query)
    const window = readScimWindow(query, isShort ? undefined : groupsWithMembersMax)
    const comparisons = readFilter(query.filter, ['displayname', 'externalid', 'id'])
    const root = rootOf(url, organization)
    return database.read(async tx => {
      const page = await tx.scimGroups.list(organization.id, comparisons, window)
      const ids = isShort ? [] : page.items.map(({ id }) => id)
      const members = await tx.scimGroups.listMembers(organization.id, ids)
      const wire = (group: ScimGroup) => shownAttributes(scimGroupToWire(group, members.get(group.id), root), query)
      return scimPage(page, window, wire) as AnswerOf<typeof r.listGroups>
    })
  })

  serve(r.createGroup, async ({ actor, organization, body, url }) => {
    requireSchema(body, scimGroupSchema)
    const content = readScimGroup(body)
    const group = await database.transaction(tx => createScimGroup(tx, actor, organization, content, now()))
    const wire = toWire(group, rootOf(url, organization))
    return answer({ status: 201, body: wire, headers: locationOf(wire) })
  })

  serve(r.getGroup, async ({ organization, params, query, url }) => {
    const group = await database.read(tx => getScimGroup(tx, organization, params.id))
    return shownAttributes(toWire(group, rootOf(url, organization)), query) as GroupWire
  })

  serve(r.replaceGroup, async ({ actor, organization, params, body, url }) => {
    requireSchema(body, scimGroupSchema)
    const content = readScimGroup(body)
    const group = await database.transaction(tx =>
      updateScimGroup(tx, actor, organization, params.id, () => content, now()),
    )
    return toWire(group, rootOf(url, organization))
  })

  serve(r.patchGroup, async ({ actor, organization, params, body, url }) => {
    const operations = readOperations(body)
    const group = await database.transaction(tx =>
      updateScimGroup(tx, actor, organization, params.id, stored => patchGroup(stored, operations), now()),
    )
    return toWire(group, rootOf(url, organization))
  })

  serve(r.deleteGroup, async ({ actor, organization, params }) => {
    await database.transaction(tx => removeScimGroup(tx, actor, organization, params.id, now()))
    return answer({ status: 204 })
  })
}

/** Raises `missing`. */
function oneOf<Item extends { readonly id: string }>(items: readonly Item[], id: string): Item {
  const item = items.find(each => each.id === id)
  if (!item) throw missing('Resource')
  return item
}

const locationOf = ({ meta }: UserWire | GroupWire) => ({ location: meta.location })
