import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  descriptionCharactersMax,
  FreeObject,
  IdParam,
  Instant,
  InstantInput,
  Integer,
  kibibyte,
  List,
  mebibyte,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  ProjectParams,
  ShapedObject,
  ShapedObjectInput,
  TagsInput,
  Text,
  TextInput,
} from '../schema.ts'
import { activityAnswer, activityQuery } from './activity.ts'
import { Filters, FlagDefinition, RollbackConditions } from './flag-definition.ts'

/** Contract 2.1; the last five fields are Halyard's. */
export const Flag = NamedObject('FeatureFlag', 'A feature flag of a project.', {
  id: Integer('Unique id of the flag.', 12),
  name: Text('The description of the flag.', 'The checkout with one page'),
  key: Text('Key by which applications evaluate the flag; unique in the project.', 'new-checkout'),
  filters: ShapedObject(Filters),
  deleted: Bool('Whether the flag is soft-deleted.', false),
  active: Bool('Whether the flag is switched on. An inactive flag evaluates to `false`.', true),
  created_by: UserBasic,
  created_at: Instant('When the flag was created.'),
  is_simple_flag: Bool('Whether the flag is a single rollout percentage for everyone.', true),
  rollout_percentage: Nullable(Integer('Rollout percentage of a simple flag; null for other flags.', 100)),
  ensure_experience_continuity: Bool('Whether a person keeps the same value before and after sign-in.', false),
  experiment_set: List(Type.Integer(), 'Ids of experiments. Always empty.', []),
  surveys: FreeObject('Always empty.', {}),
  features: FreeObject('Early access features. Always empty.', {}),
  rollback_conditions: ShapedObject(RollbackConditions),
  performed_rollback: Bool('Whether a rollback condition has switched the flag off.', false),
  can_edit: Bool('Whether the caller can edit the flag.', true),
  tags: List(Type.Unknown(), 'Tags, usually strings.', ['checkout']),
  usage_dashboard: Integer('Id of the dashboard that shows the usage of the flag.', 3),
  analytics_dashboards: List(Type.Integer(), 'Ids of other dashboards of the flag.', []),
  has_enriched_analytics: Bool('Whether the usage dashboard shows views and interactions.', false),
  version: Integer('Incremented by each change; send it back to detect conflicts (409).', 1),
  bucketing_identifier: Nullable(
    Type.String({
      enum: ['distinct_id', 'device_id'],
      description: '`distinct_id` (default) or `device_id`.',
      examples: ['distinct_id'],
    }),
  ),
  evaluation_runtime: Nullable(
    Type.String({
      enum: ['server', 'client', 'all'],
      description: '`server`, `client` or `all`.',
      examples: ['all'],
    }),
  ),
  evaluation_contexts: List(
    Type.String(),
    'Only SDKs that send one of these contexts receive the flag; empty means all.',
    [],
  ),
  archived: Bool('Retired: neither listed by default nor evaluated.', false),
})
export type Flag = Static<typeof Flag>

export const flagKeyCharactersMax = 400

/** Contract 2.1, the writable fields, in the order in which errors are reported; the last four are Halyard's. */
const writable = {
  name: Type.Optional(TextInput(descriptionCharactersMax, 'Description of the flag.', 'The checkout with one page')),
  key: Type.Optional(
    NonEmptyTextInput(flagKeyCharactersMax, 'Key of the flag; unique in the project.', 'new-checkout'),
  ),
  filters: Type.Optional(ShapedObjectInput(Filters, 4 * mebibyte)),
  deleted: Type.Optional(Bool('`true` soft-deletes the flag, `false` restores it.')),
  active: Type.Optional(Bool('Whether the flag is switched on; `true` for a new flag.', true)),
  created_at: Type.Optional(InstantInput('When the flag was created; now by default.')),
  ensure_experience_continuity: Type.Optional(Bool('Whether a person keeps the same value before and after sign-in.')),
  rollback_conditions: Type.Optional(ShapedObjectInput(RollbackConditions, 256 * kibibyte)),
  performed_rollback: Type.Optional(
    Bool('Whether a rollback condition has switched the flag off. Switching the flag on clears it.'),
  ),
  tags: Type.Optional(TagsInput('Tags, usually strings; replaces the list.', ['checkout'])),
  analytics_dashboards: Type.Optional(
    Type.Array(Type.Integer(), {
      maxItems: 1000,
      description: 'Ids of dashboards of this project; replaces the list.',
    }),
  ),
  has_enriched_analytics: Type.Optional(Bool('Whether the usage dashboard shows views and interactions.')),
  bucketing_identifier: Type.Optional(
    Nullable(
      Type.Union([Type.Literal('distinct_id'), Type.Literal('device_id')], {
        description: 'Id that decides the bucket: `distinct_id` (default) or `device_id`.',
      }),
    ),
  ),
  evaluation_runtime: Type.Optional(
    Nullable(
      Type.Union([Type.Literal('server'), Type.Literal('client'), Type.Literal('all')], {
        description: 'Which SDKs receive the flag: `server`, `client` or `all` (default).',
      }),
    ),
  ),
  evaluation_contexts: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      maxItems: 1000,
      description: 'Only SDKs that send one of these contexts receive the flag; empty means all.',
    }),
  ),
  version: Type.Optional(
    Integer('Version that the change is based on. Returns 409 if the same field has changed since.'),
  ),
}
export const FlagCreate = NamedObject(
  'FeatureFlagCreate',
  'A new flag. Only `key` is required.',
  {
    ...writable,
    key: NonEmptyTextInput(flagKeyCharactersMax, 'Key of the flag; unique in the project.', 'new-checkout'),
  },
  {
    key: 'pricing-test',
    name: 'Which price page converts better?',
    filters: {
      groups: [
        {
          properties: [{ key: 'country', type: 'person', operator: 'exact', value: ['DE', 'FR'] }],
          rollout_percentage: 50,
        },
      ],
      multivariate: {
        variants: [
          { key: 'control', rollout_percentage: 50 },
          { key: 'large-button', rollout_percentage: 50 },
        ],
      },
      payloads: { 'large-button': { size: 24 } },
    },
  },
)
export const FlagWrite = NamedObject(
  'FeatureFlagWrite',
  'Writable fields of a flag. Omitted fields do not change.',
  writable,
  { active: true, tags: ['checkout'], version: 1 },
)
export type FlagWrite = Static<typeof FlagWrite>

export const FlagParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Flag id.') })

const flags = '/api/projects/:project_id/feature_flags' as const
const LocalEvaluation = NamedObject(
  'LocalEvaluation',
  'Definitions for SDKs that evaluate locally, in the shape of a flag.',
  {
    ...Flag.properties,
    flags: List(ShapedObject(FlagDefinition), 'Definitions of the flags.'),
    group_type_mapping: FreeObject('The name of each group type by its index.', { '0': 'company' }),
    cohorts: FreeObject('The filters of each cohort that is not static, by its id; empty without `send_cohorts`.', {}),
    minimal_flag_called_events: Bool('Whether SDKs may send reduced `$feature_flag_called` events.', false),
    property_matching_version: Integer('How `exact` compares; see the project.', 2),
  },
)
const FlagActivity = NamedObject('FeatureFlagActivity', 'A page of activity in the shape of a flag.', {
  ...Flag.properties,
  ...activityAnswer,
})

const projectRoute = routesOf('Feature flags', { params: ProjectParams })
const flagRoute = routesOf('Feature flags', { params: FlagParams })

export const flagRoutes = {
  list: projectRoute.get(flags, {
    operationId: 'listFeatureFlags',
    summary: 'List the flags of the project, newest first',
    description:
      'Returns a page of flags with their definitions. Deleted flags are omitted unless `deleted=true`. Filters can be combined.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Text('Part of the key or the name.')),
      active: Type.Optional(
        Type.String({ enum: ['true', 'false', 'STALE'], description: 'Only active, inactive or stale flags.' }),
      ),
      type: Type.Optional(
        Type.String({
          enum: ['boolean', 'multivariant', 'experiment', 'remote_config'],
          description: 'Only flags of this type.',
        }),
      ),
      created_by_id: Type.Optional(Integer('Only flags created by the user with this id.')),
      tags: Type.Optional(Text('JSON array of tags; matches flags with any of them.')),
      order: Type.Optional(Text('Field name; prefix `-` for descending order.')),
      deleted: Type.Optional(Bool('`true` lists the deleted flags instead.')),
      archived: Type.Optional(Bool('`true` lists the archived flags instead.')),
    }),
    responses: { 200: Page(Flag) },
  }),
  create: projectRoute.post(flags, {
    operationId: 'createFeatureFlag',
    summary: 'Create a flag and its usage dashboard',
    description:
      'Creates a flag. Without `filters` it is on for everyone. The definition is checked as a whole; nothing is stored if a part of it could not be evaluated.',
    access: inProject('feature_flag:write'),
    body: FlagCreate,
    mayConflict: true,
    responses: { 201: Flag },
  }),
  get: flagRoute.get(`${flags}/:id`, {
    operationId: 'getFeatureFlag',
    summary: 'Get a flag, deleted or not',
    description: 'Returns the definition of one flag. A soft-deleted flag is returned with `deleted: true`.',
    access: inProject('feature_flag:read'),
    responses: { 200: Flag },
  }),
  update: flagRoute.patch(`${flags}/:id`, {
    operationId: 'updateFeatureFlag',
    summary: 'Change, delete (`deleted: true`) or restore a flag',
    description:
      'Changes only the fields that the body contains; objects such as `filters` are replaced as a whole. Send the `version` that you have read to detect concurrent changes.',
    access: inProject('feature_flag:write'),
    body: FlagWrite,
    mayConflict: true,
    responses: { 200: Flag },
  }),
  remove: flagRoute.delete(`${flags}/:id`, {
    operationId: 'deleteFeatureFlag',
    summary: 'Not allowed: flags are deleted by PATCH with `deleted: true`',
    description:
      'Always returns 405 without a body. Flags are soft-deleted, so that they can be restored and their history is retained.',
    access: inProject('feature_flag:write'),
    responses: { 405: null },
  }),
  status: flagRoute.get(`${flags}/:id/status`, {
    operationId: 'getFeatureFlagStatus',
    summary: 'Get the status of a flag: active, inactive, stale or deleted, with the reason',
    description:
      'A flag older than 30 days is stale when it was not evaluated in the last 30 days, or when it has one value for everyone.',
    access: inProject('feature_flag:read'),
    responses: {
      200: NamedObject('FeatureFlagStatus', 'Whether a flag is still of use.', {
        status: Type.String({ enum: ['active', 'inactive', 'stale', 'deleted'], description: 'Status of the flag.' }),
        reason: Text('Why the flag has this status.', 'The flag is younger than 30 days.'),
        last_called_at: Nullable(Instant('When the flag was last evaluated; null if never.')),
      }),
    },
  }),
  activity: flagRoute.get(`${flags}/:id/activity`, {
    operationId: 'listFeatureFlagActivity',
    summary: 'List the activity of a flag, newest first',
    description:
      'Returns who changed which field of the flag and when, in the shape of the flag with the page of entries in `results`.',
    access: inProject('activity_log:read', 'feature_flag:read'),
    query: Type.Object(activityQuery),
    responses: { 200: FlagActivity },
  }),
  projectActivity: projectRoute.get(`${flags}/activity`, {
    operationId: 'listProjectFeatureFlagActivity',
    summary: 'List the activity of all flags of the project, newest first',
    description:
      'Returns who changed which flag of the project and when. The fields of a flag are blank; the entries are in `results`.',
    access: inProject('activity_log:read', 'feature_flag:read'),
    query: Type.Object(activityQuery),
    responses: { 200: FlagActivity },
  }),
  localEvaluation: projectRoute.get(`${flags}/local_evaluation`, {
    operationId: 'getProjectLocalEvaluation',
    summary: 'Get the definitions for local evaluation; supports If-None-Match',
    description:
      'Returns everything an SDK needs to evaluate flags without a request per evaluation. Send the `ETag` as `If-None-Match` to receive 304 when nothing has changed.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      send_cohorts: Type.Optional(Bool('Whether to include the cohorts that flags use.')),
      token: Type.Optional(Text('With `@current`: the token of the project.')),
    }),
    hasEtag: true,
    responses: { 200: LocalEvaluation, 304: null },
  }),
}
