import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  IdInput,
  IdParam,
  Instant,
  List,
  NamedObject,
  Nullable,
  ProjectParams,
  Text,
  TextInput,
  Uuid,
} from '../schema.ts'

const level = (values: readonly string[], description: string) =>
  Type.String({ enum: [...values], description, examples: [values.at(-1)] })

export const AccessControl = NamedObject('AccessControl', 'What a role, or every member, can do with flags.', {
  access_level: level(['viewer', 'editor'], 'What it grants.'),
  resource: Text('Type of resource.', 'feature_flag'),
  resource_id: Nullable(Text('Id of the flag; null for all flags.', '12')),
  role: Nullable(Uuid('Id of the role; null for every member.')),
  organization_member: Nullable(Uuid('Always null: access is granted to roles.')),
  created_at: Nullable(Instant('When it was created; null when not recorded.')),
  updated_at: Nullable(Instant('When it was last changed; null when not recorded.')),
})
export type AccessControl = Static<typeof AccessControl>

export const AccessControls = NamedObject(
  'AccessControls',
  "Access to flags, in the shape of PostHog's access controls.",
  {
    access_controls: List(AccessControl, 'What is granted.'),
    available_access_levels: List(Type.String(), 'Levels that can be set.', ['viewer', 'editor']),
    default_access_level: level(['viewer', 'editor'], 'What members without a grant can do.'),
    user_access_level: level(['viewer', 'editor'], 'What you can do.'),
    user_can_edit_access_levels: Bool('Whether you can change these.', true),
  },
)
export type AccessControls = Static<typeof AccessControls>

export const ProjectAccessControls = NamedObject(
  'ProjectAccessControls',
  'Access to a project: every member of the organization has it.',
  {
    access_controls: List(AccessControl, 'Always empty.', []),
    available_access_levels: List(Type.String(), 'Levels that can be set.', ['member']),
    default_access_level: level(['member'], 'What members of the organization are in each project.'),
    user_access_level: level(['member', 'admin'], 'What you are.'),
    user_can_edit_access_levels: Bool('Always false.', false),
  },
)
export type ProjectAccessControls = Static<typeof ProjectAccessControls>

const target = {
  access_level: Nullable(TextInput(32, '`viewer` or `editor`; null removes the grant.', 'editor')),
  role: Type.Optional(Nullable(IdInput('Id of the role; every member when omitted.'))),
  organization_member: Type.Optional(Nullable(IdInput('Not supported: grant access to a role.'))),
  resource: Type.Optional(TextInput(64, 'Must be `feature_flag`.', 'feature_flag')),
  resource_id: Type.Optional(Nullable(IdInput('Ignored: the path names the flag.'))),
}
const AccessControlInput = Type.Object(target)

const project = '/api/projects/:project_id' as const
const FlagParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Flag id.') })

const flagRoute = routesOf('Role access', { params: FlagParams })
const projectRoute = routesOf('Role access', { params: ProjectParams })

/** PostHog's newer shape of access, as its Terraform provider manages it. */
export const accessControlRoutes = {
  listOfFlag: flagRoute.get(`${project}/feature_flags/:id/access_controls`, {
    operationId: 'listFlagAccessControls',
    summary: 'List who can edit this flag, as access controls',
    description: 'The same grants as `role_access`, up to 1,000.',
    access: inProject('feature_flag:read'),
    responses: { 200: AccessControls },
  }),
  setOfFlag: flagRoute.put(`${project}/feature_flags/:id/access_controls`, {
    operationId: 'setFlagAccessControl',
    summary: 'Grant a role edit access to this flag, or remove the grant',
    description:
      '`access_level` is `editor`, or null to remove the grant. The same rules as for `role_access` apply. Returns 204 for null.',
    access: inProject('feature_flag:write'),
    body: AccessControlInput,
    responses: { 200: AccessControl, 204: null },
  }),
  listOfResources: projectRoute.get(`${project}/resource_access_controls`, {
    operationId: 'listResourceAccessControls',
    summary: 'List who can edit flags, as access controls',
    description:
      'The access level of each role, and the organization-wide setting for flags when there is one. Up to 1,000 roles.',
    access: inProject('organization:read'),
    responses: { 200: AccessControls },
  }),
  setOfResources: projectRoute.put(`${project}/resource_access_controls`, {
    operationId: 'setResourceAccessControl',
    summary: 'Set the access level of a role or of every member for flags (admin)',
    description:
      'Applies to all projects of the organization. `access_level: null` restores the default and returns 204. Requires the admin level.',
    access: inProject('organization:write'),
    body: AccessControlInput,
    responses: { 200: AccessControl, 204: null },
  }),
  listOfProject: projectRoute.get(`${project}/access_controls`, {
    operationId: 'listProjectAccessControls',
    summary: 'Get who has access to the project',
    description: 'Every member of the organization has access to each project.',
    access: inProject('project:read'),
    responses: { 200: ProjectAccessControls },
  }),
}
