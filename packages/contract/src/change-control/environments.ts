import Type, { type Static } from 'typebox'
import { FlagSummary } from '../flag-list/flag-list.ts'
import { ActivityChange } from '../flags/activity.ts'
import { flagKeyCharactersMax } from '../flags/flags.ts'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { inOrganization, routesOf } from '../route.ts'
import {
  Bool,
  IdParam,
  Instant,
  Integer,
  List,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  ObjectOf,
  OrganizationParams,
  Text,
  TextInput,
} from '../schema.ts'

export const environmentsMax = 10
export const environmentNameCharactersMax = 100
/** Maximum number of flags that are promoted at once. */
export const promotedFlagsMax = 100

const Environment = NamedObject('Environment', 'A project as an environment of an application.', {
  project: Integer('Id of the project that is this environment.', 1),
  name: Text('Name of the environment.', 'production'),
  is_production: Bool('Whether new flags arrive here switched off.'),
})

export const EnvironmentSet = NamedObject('EnvironmentSet', 'Projects that are environments of the same application.', {
  id: Integer('Unique id of the set.', 1),
  name: Text('Name of the application.', 'Shop'),
  environments: List(Environment, 'The environments, in their order.'),
  created_by: UserBasic,
  created_at: Instant('When the set was created.'),
  updated_at: Instant('When the set was last changed.'),
})
export type EnvironmentSet = Static<typeof EnvironmentSet>

const Name = NonEmptyTextInput(200, 'Name.', 'Shop')
const EnvironmentInput = Type.Object({
  project: Type.Optional(Integer('Id of a project; absent creates one.')),
  name: NonEmptyTextInput(environmentNameCharactersMax, 'Name of the environment.', 'staging'),
  is_production: Type.Optional(Bool('Whether new flags arrive here switched off.')),
})
const Environments = Type.Array(EnvironmentInput, {
  minItems: 1,
  maxItems: environmentsMax,
  description: `The environments in their order, at most ${environmentsMax}.`,
})

const FlagInEnvironment = Type.Object({
  project: Integer('Id of the project.', 1),
  flag_id: Nullable(Integer('Id of the flag; null where the key is missing.', 12)),
  active: Bool('Whether the flag is on there.'),
  rollout_percentage: Nullable(Integer('Percentage of a simple flag.', 100)),
  version: Nullable(Integer('Version of the flag.', 4)),
  can_edit: Bool('Whether the caller can edit the flag there.', true),
  flag: Nullable(FlagSummary),
})
const FlagRow = NamedObject('FlagAcrossEnvironments', 'A flag in every environment of a set.', {
  key: Text('Key of the flag.', 'new-checkout'),
  differs: Bool('Whether the environments differ in conditions, variants or state.'),
  environments: List(FlagInEnvironment, 'One entry per environment, in their order.'),
})
export type FlagAcrossEnvironments = Static<typeof FlagRow>

const Part = Type.Union(
  [Type.Literal('filters'), Type.Literal('payloads'), Type.Literal('tags'), Type.Literal('active')],
  { description: 'A part of a flag.' },
)
const FlagKey = Type.String({ minLength: 1, maxLength: flagKeyCharactersMax })
const promotion = {
  feature_flag_keys: Type.Array(FlagKey, {
    minItems: 1,
    maxItems: promotedFlagsMax,
    description: `Keys of the flags, at most ${promotedFlagsMax}.`,
    examples: [['new-checkout']],
  }),
  from: Integer('Id of the project to promote from.', 1),
  to: Integer('Id of the project to promote to.', 2),
  parts: Type.Optional(
    Type.Array(Part, {
      maxItems: 4,
      description: 'What to promote; default `filters`, `payloads` and `tags`, so that the state stays.',
      examples: [['filters', 'payloads']],
    }),
  ),
}

const PlanItem = Type.Object({
  key: Text('Key of the flag.', 'new-checkout'),
  action: Type.String({ enum: ['create', 'update', 'none'], description: 'What happens in the target.' }),
  changes: List(ActivityChange, 'Field by field, in the target.'),
  needs: ObjectOf('What comes along or has to exist.', {
    cohorts: List(Type.String(), 'Names of cohorts that would be created.', []),
    flags: List(Type.String(), 'Keys of flags that it depends on.', []),
  }),
  requires: List(Type.Integer(), 'Ids of the approval policies that it meets.', []),
  people_affected: Nullable(Integer('People whose value would change; null when it cannot be counted.', 120)),
})
const Plan = NamedObject('PromotionPlan', 'What a promotion would change.', {
  hash: Text('Send it to apply exactly this plan.', '5d41402abc4b2a76'),
  items: List(PlanItem, 'One item per flag, those that others depend on first.'),
})
export type PromotionPlan = Static<typeof Plan>

const sets = '/api/organizations/:parent_lookup_organization_id/environment_sets' as const
const SetParams = Type.Object({ ...OrganizationParams.properties, set_id: IdParam('Id of the environment set.') })

const organizationRoute = routesOf('Environments', { params: OrganizationParams })
const setRoute = routesOf('Environments', { params: SetParams })

export const environmentRoutes = {
  list: organizationRoute.get(sets, {
    operationId: 'listEnvironmentSets',
    summary: 'List the environment sets of the organization, by name',
    description: 'Sets with a project that the caller cannot see are returned as well; their flags are not.',
    access: inOrganization('project:read'),
    query: Type.Object(pageQuery),
    responses: { 200: Page(EnvironmentSet) },
  }),
  create: organizationRoute.post(sets, {
    operationId: 'createEnvironmentSet',
    summary: 'Tie projects together as environments (admin)',
    description:
      'An environment without a project gets a new one. Without `environments`, the set has development and production. Projects and their flags stay as they are.',
    access: inOrganization('project:write'),
    body: Type.Object({ name: Name, environments: Type.Optional(Environments) }),
    responses: { 201: EnvironmentSet },
  }),
  get: setRoute.get(`${sets}/:set_id`, {
    operationId: 'getEnvironmentSet',
    summary: 'Get an environment set',
    description: 'Returns the environments in their order.',
    access: inOrganization('project:read'),
    responses: { 200: EnvironmentSet },
  }),
  update: setRoute.patch(`${sets}/:set_id`, {
    operationId: 'updateEnvironmentSet',
    summary: 'Rename a set, or change its environments and their order (admin)',
    description: 'A project that is left out is no environment any more; it is not deleted.',
    access: inOrganization('project:write'),
    body: Type.Object({ name: Type.Optional(Name), environments: Type.Optional(Environments) }),
    responses: { 200: EnvironmentSet },
  }),
  remove: setRoute.delete(`${sets}/:set_id`, {
    operationId: 'deleteEnvironmentSet',
    summary: 'Delete an environment set (admin)',
    description: 'Its projects and their flags stay as they are.',
    access: inOrganization('project:write'),
    responses: { 204: null },
  }),
  flags: setRoute.get(`${sets}/:set_id/flags`, {
    operationId: 'listFlagsAcrossEnvironments',
    summary: 'List the flags of all environments: one row per key',
    description: 'Cohorts and flags that conditions refer to are compared by name and key, not by id.',
    access: inOrganization('feature_flag:read'),
    query: Type.Object({
      ...pageQuery,
      differs: Type.Optional(Integer('`1`: only flags in which environments differ.')),
      search: Type.Optional(Text('Part of the key.')),
    }),
    responses: { 200: Page(FlagRow) },
  }),
  plan: setRoute.post(`${sets}/:set_id/promote/plan`, {
    operationId: 'planPromotion',
    isAudited: false,
    summary: 'Plan a promotion: what would change in the target',
    description: 'Changes nothing. Checks everything that applying the plan would check.',
    access: inOrganization('feature_flag:write'),
    body: Type.Object(promotion),
    mayConflict: true,
    responses: { 200: Plan },
  }),
  promote: setRoute.post(`${sets}/:set_id/promote`, {
    operationId: 'applyPromotion',
    summary: 'Apply exactly the plan with this hash, all or nothing',
    description:
      'Returns 409 when a flag, cohort or policy has changed since the plan. When the target needs approval, nothing is changed and a change request is opened for each flag.',
    access: inOrganization('feature_flag:write'),
    body: Type.Object({
      ...promotion,
      hash: TextInput(64, 'The hash of the plan.', '5d41402abc4b2a76'),
    }),
    mayConflict: true,
    responses: { 200: Plan },
  }),
}
