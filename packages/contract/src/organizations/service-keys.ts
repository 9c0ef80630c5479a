import Type, { type Static } from 'typebox'
import { adminLevel } from '../levels.ts'
import { inOrganization, routesOf } from '../route.ts'
import { Integer, NamedObject, OrganizationParams, Text } from '../schema.ts'
import { ApiKey, keyFields, keyLabel } from './api-keys.ts'
import { UserBasic } from './users.ts'

const { user_id: _owner, scoped_organizations: _organizations, value: _value, ...shared } = ApiKey.properties

export const ServiceKey = NamedObject(
  'ServiceKey',
  'An API key of the organization. `user` is the account without a person that acts through it.',
  {
    ...shared,
    level: Integer('What it may do: 0 view only, 1 member, 8 admin.', 1),
    user: UserBasic,
    created_by: UserBasic,
  },
)
export type ServiceKey = Static<typeof ServiceKey>
const NewServiceKey = NamedObject('NewServiceKey', 'A new service key with its value.', {
  ...ServiceKey.properties,
  value: Text('The key itself.', 'phx_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n'),
})

const route = routesOf('Service keys', { params: OrganizationParams })
const path = '/api/organizations/:parent_lookup_organization_id/service_keys' as const

export const serviceKeyRoutes = {
  list: route.get(path, {
    operationId: 'listServiceKeys',
    summary: 'List the service keys of the organization (admin), newest first, without their values',
    description: 'Requires the admin level. Keys of all admins are listed.',
    access: { ...inOrganization('organization:read'), level: adminLevel },
    responses: { 200: Type.Array(ServiceKey) },
  }),
  create: route.post(path, {
    operationId: 'createServiceKey',
    summary: 'Create a key that belongs to the organization, not to a person (admin); its value is returned once',
    description:
      'Requires the admin level. The key survives when its creator leaves. It cannot decide about change requests, and has at most the rights of the calling key.',
    access: { ...inOrganization('organization:write'), level: adminLevel },
    body: Type.Object({
      label: keyLabel,
      scopes: Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 100,
        description: 'Scopes such as `feature_flag:write`, or `*`.',
        examples: [['feature_flag:write']],
      }),
      scoped_teams: keyFields.scoped_teams,
      level: Type.Optional(Integer('0 view only, 1 member (default), 8 admin.', 1)),
      expires_at: keyFields.expires_at,
    }),
    responses: { 201: NewServiceKey },
  }),
  remove: route.delete(`${path}/:key_id`, {
    operationId: 'deleteServiceKey',
    summary: 'Revoke a service key (admin)',
    description:
      'Requires the admin level. The key stops at once on all nodes; what it changed stays attributed to it.',
    access: { ...inOrganization('organization:write'), level: adminLevel },
    params: Type.Object({ ...OrganizationParams.properties, key_id: Text('Id of the key.') }),
    responses: { 204: null },
  }),
}
