import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, PageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import { Bool, Instant, Integer, List, NamedObject, Nullable, ObjectOf, shapeKeyword } from '../schema.ts'
import { PayloadSchemaInput } from '../typed-flags/payload-schemas.ts'
import { ActivityChange } from './activity.ts'
import { Flag, FlagParams } from './flags.ts'

/** The writable fields of a flag, which a version stores. */
const { id, created_by, is_simple_flag, rollout_percentage, experiment_set, surveys, features, ...decided } =
  Flag.properties
const { can_edit, usage_dashboard, version, ...content } = decided

export const FlagVersion = NamedObject('FeatureFlagVersion', 'A version of a flag.', {
  version: Integer('Number of the version, from 1.', 2),
  is_current: Bool('Whether it is the version in use.', true),
  content: ObjectOf('The writable fields of the flag in this version.', content),
  compared_to: Nullable(Integer('The version that `changes` are relative to; null for the first.', 1)),
  changes: List(ActivityChange, 'Field by field, from `compared_to` to this version.'),
  created_by: Nullable(UserBasic),
  created_at: Instant('When the version was created.'),
})
export type FlagVersion = Static<typeof FlagVersion>

const flag = '/api/projects/:project_id/feature_flags/:id' as const
const VersionParams = Type.Object({
  ...FlagParams.properties,
  version: Type.String({
    pattern: '^[0-9]{1,9}$',
    [shapeKeyword]: Type.Integer({ minimum: 1, description: 'Number of the version.', examples: [1] }),
  }),
})

const flagRoute = routesOf('Flag versions', { params: FlagParams })
const route = routesOf('Flag versions')

export const flagVersionRoutes = {
  list: flagRoute.get(`${flag}/versions`, {
    operationId: 'listFeatureFlagVersions',
    summary: 'List the versions of the flag, newest first, each compared with the previous one',
    description: 'Every change of a flag stores a version.',
    access: inProject('feature_flag:read'),
    query: PageQuery,
    responses: { 200: Page(FlagVersion) },
  }),
  get: route.get(`${flag}/versions/:version`, {
    operationId: 'getFeatureFlagVersion',
    summary: 'Get a version, compared with the previous or any other one',
    description: 'Returns the writable fields as they were, and what changed since the version it is compared with.',
    access: inProject('feature_flag:read'),
    params: VersionParams,
    query: Type.Object({
      compare_to: Type.Optional(Integer('Another version of the flag to compare with.', 1)),
    }),
    responses: { 200: FlagVersion },
  }),
  restore: flagRoute.post(`${flag}/restore`, {
    operationId: 'restoreFeatureFlagVersion',
    summary: 'Restore an earlier version as a new one',
    description: 'The content of the version is checked again; cohorts and flags that it uses must still exist.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      version: Type.Integer({ minimum: 1, description: 'Number of the version to restore.', examples: [1] }),
      payload_schema: Type.Optional(
        Nullable(
          PayloadSchemaInput(
            'The payload schema to set with it, which versions do not store; null removes it. Unchanged when absent.',
          ),
        ),
      ),
    }),
    mayConflict: true,
    responses: { 200: Flag },
  }),
}
