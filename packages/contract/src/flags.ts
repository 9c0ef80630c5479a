import Type, { type Static } from 'typebox'
import { activityAnswer, activityQuery } from './activity.ts'
import { Page, pageQuery } from './page.ts'
import { inProject, route } from './route.ts'
import {
  descriptionCharactersMax,
  FreeObject,
  FreeObjectInput,
  IdParam,
  Instant,
  InstantInput,
  kibibyte,
  mebibyte,
  Nullable,
  ProjectParams,
  TagsInput,
} from './schema.ts'
import { UserBasic } from './users.ts'

/** Contract 2.1; the last five fields are Halyard's. */
export const Flag = Type.Object({
  id: Type.Integer(),
  name: Type.String({ description: 'The description of the flag.' }),
  key: Type.String(),
  filters: FreeObject('Conditions, variants and payloads.'),
  deleted: Type.Boolean(),
  active: Type.Boolean(),
  created_by: UserBasic,
  created_at: Instant(),
  is_simple_flag: Type.Boolean(),
  rollout_percentage: Nullable(Type.Integer()),
  ensure_experience_continuity: Type.Boolean(),
  experiment_set: Type.Array(Type.Integer()),
  surveys: FreeObject(),
  features: FreeObject(),
  rollback_conditions: FreeObject(),
  performed_rollback: Type.Boolean(),
  can_edit: Type.Boolean(),
  tags: Type.Array(Type.Unknown()),
  usage_dashboard: Type.Integer(),
  analytics_dashboards: Type.Array(Type.Integer()),
  has_enriched_analytics: Type.Boolean(),
  version: Type.Integer({
    description: 'Incremented by each change; send it back to detect conflicts (409).',
  }),
  bucketing_identifier: Nullable(Type.String({ description: '`distinct_id` (default) or `device_id`.' })),
  evaluation_runtime: Nullable(Type.String({ description: '`server`, `client` or `all`.' })),
  evaluation_contexts: Type.Array(Type.String()),
  archived: Type.Boolean({ description: 'Retired: neither listed by default nor evaluated.' }),
})
export type Flag = Static<typeof Flag>

export const flagKeyCharactersMax = 400

/** Contract 2.1, the writable fields, in the order in which errors are reported; the last four are Halyard's. */
const writable = {
  name: Type.Optional(Type.String({ maxLength: descriptionCharactersMax })),
  key: Type.Optional(Type.String({ minLength: 1, maxLength: flagKeyCharactersMax })),
  filters: Type.Optional(FreeObjectInput(4 * mebibyte)),
  deleted: Type.Optional(Type.Boolean()),
  active: Type.Optional(Type.Boolean()),
  created_at: Type.Optional(InstantInput()),
  ensure_experience_continuity: Type.Optional(Type.Boolean()),
  rollback_conditions: Type.Optional(FreeObjectInput(256 * kibibyte)),
  performed_rollback: Type.Optional(Type.Boolean()),
  tags: Type.Optional(TagsInput()),
  analytics_dashboards: Type.Optional(Type.Array(Type.Integer(), { maxItems: 1000 })),
  has_enriched_analytics: Type.Optional(Type.Boolean()),
  bucketing_identifier: Type.Optional(Nullable(Type.Union([Type.Literal('distinct_id'), Type.Literal('device_id')]))),
  evaluation_runtime: Type.Optional(
    Nullable(Type.Union([Type.Literal('server'), Type.Literal('client'), Type.Literal('all')])),
  ),
  evaluation_contexts: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 1000 })),
  version: Type.Optional(Type.Integer()),
}
export const FlagCreate = Type.Object({
  ...writable,
  key: Type.String({ minLength: 1, maxLength: flagKeyCharactersMax }),
})
export const FlagWrite = Type.Object(writable)
export type FlagWrite = Static<typeof FlagWrite>

export const FlagParams = Type.Object({ ...ProjectParams.properties, id: IdParam() })

const tag = 'Feature flags'
const flags = '/api/projects/:project_id/feature_flags' as const
const LocalEvaluation = Type.Object({
  ...Flag.properties,
  flags: Type.Array(FreeObject()),
  group_type_mapping: FreeObject('The name of each group type by its index.'),
  cohorts: FreeObject('The filters of each cohort that is not static, by its id; empty without `send_cohorts`.'),
  minimal_flag_called_events: Type.Boolean(),
  property_matching_version: Type.Integer(),
})
const FlagActivity = Type.Object({ ...Flag.properties, ...activityAnswer })

export const flagRoutes = {
  list: route({
    method: 'GET',
    path: flags,
    tag,
    summary: 'List the flags of the project, newest first',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Type.String({ description: 'Part of the key or the name.' })),
      active: Type.Optional(Type.String({ description: '`true`, `false` or `STALE`.' })),
      type: Type.Optional(Type.String({ description: '`boolean`, `multivariant`, `experiment` or `remote_config`.' })),
      created_by_id: Type.Optional(Type.String({ description: 'User id.' })),
      tags: Type.Optional(Type.String({ description: 'JSON array of tags; matches flags with any of them.' })),
      order: Type.Optional(Type.String({ description: 'Field name; prefix `-` for descending order.' })),
      deleted: Type.Optional(Type.String({ description: '`true` lists the deleted flags instead.' })),
      archived: Type.Optional(Type.String({ description: '`true` lists the archived flags instead.' })),
    }),
    answers: { 200: Page(Flag) },
  }),
  create: route({
    method: 'POST',
    path: flags,
    tag,
    summary: 'Create a flag and its usage dashboard',
    access: inProject('feature_flag:write'),
    params: ProjectParams,
    body: FlagCreate,
    answers: { 201: Flag },
  }),
  get: route({
    method: 'GET',
    path: `${flags}/:id`,
    tag,
    summary: 'Get a flag, deleted or not',
    access: inProject('feature_flag:read'),
    params: FlagParams,
    answers: { 200: Flag },
  }),
  update: route({
    method: 'PATCH',
    path: `${flags}/:id`,
    tag,
    summary: 'Change, delete (`deleted: true`) or restore a flag',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: FlagWrite,
    answers: { 200: Flag },
  }),
  remove: route({
    method: 'DELETE',
    path: `${flags}/:id`,
    tag,
    summary: 'Not allowed: flags are deleted by PATCH with `deleted: true`',
    access: inProject('feature_flag:write'),
    params: Type.Object({ ...ProjectParams.properties, id: Type.String() }),
    answers: { 405: null },
  }),
  status: route({
    method: 'GET',
    path: `${flags}/:id/status`,
    tag,
    summary: 'Get the status of a flag: active, inactive, stale or deleted, with the reason',
    access: inProject('feature_flag:read'),
    params: FlagParams,
    answers: {
      200: Type.Object({
        status: Type.String({ description: '`active`, `inactive`, `stale` or `deleted`.' }),
        reason: Type.String(),
        last_called_at: Nullable(Instant('When the flag was last evaluated; null if never.')),
      }),
    },
  }),
  activity: route({
    method: 'GET',
    path: `${flags}/:id/activity`,
    tag,
    summary: 'List the activity of a flag, newest first',
    access: inProject('activity_log:read', 'feature_flag:read'),
    params: FlagParams,
    query: Type.Object(activityQuery),
    answers: { 200: FlagActivity },
  }),
  projectActivity: route({
    method: 'GET',
    path: `${flags}/activity`,
    tag,
    summary: 'List the activity of all flags of the project, newest first',
    access: inProject('activity_log:read', 'feature_flag:read'),
    params: ProjectParams,
    query: Type.Object(activityQuery),
    answers: { 200: FlagActivity },
  }),
  localEvaluation: route({
    method: 'GET',
    path: `${flags}/local_evaluation`,
    tag,
    summary: 'Get the definitions for local evaluation; supports If-None-Match',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      send_cohorts: Type.Optional(Type.String({ description: 'Include the cohorts that flags use.' })),
      token: Type.Optional(Type.String({ description: 'With `@current`: the token of the project.' })),
    }),
    answers: { 200: LocalEvaluation, 304: null },
  }),
}
