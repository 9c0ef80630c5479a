import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  FreeListInput,
  FreeObjectInput,
  Integer,
  kibibyte,
  List,
  mebibyte,
  NamedObject,
  Nullable,
  ProjectParams,
  TagsInput,
  Text,
} from '../schema.ts'
import { FlagParams } from './flags.ts'

/** Maximum number of flags per request. */
export const bulkFlagsMax = 500

const FlagName = NamedObject('FeatureFlagName', 'Id, key and description of a flag.', {
  id: Integer('Id of the flag.', 12),
  key: Text('Key of the flag.', 'new-checkout'),
  name: Text('Description of the flag.', 'The checkout with one page'),
})
const BulkError = NamedObject('BulkError', 'Why a flag was not changed.', {
  id: Integer('Id of the flag.', 13),
  key: Type.Optional(Text('Key of the flag.', 'pricing-test')),
  reason: Text('Why the flag was not changed.', 'You cannot edit this flag.'),
  change_request: Type.Optional(Integer('The change request that was opened, when the change needs approval.')),
})
export type BulkError = Static<typeof BulkError>

const flags = '/api/projects/:project_id/feature_flags' as const
const Ids = Type.Array(Type.Integer({ minimum: 1 }), {
  maxItems: bulkFlagsMax,
  description: `Flag ids, at most ${bulkFlagsMax}.`,
  examples: [[12, 13]],
})

const route = routesOf('Bulk changes')
const projectRoute = routesOf('Bulk changes', { params: ProjectParams })

export const flagBulkRoutes = {
  dependents: route.get(`${flags}/:id/dependent_flags`, {
    operationId: 'listDependentFeatureFlags',
    summary: 'List the active flags that depend on this one',
    description:
      'A flag depends on another one through a property filter with `type: "flag"`. Such a flag cannot be deleted.',
    access: inProject('feature_flag:read'),
    params: FlagParams,
    responses: { 200: Type.Array(FlagName) },
  }),
  keys: projectRoute.post(`${flags}/bulk_keys`, {
    operationId: 'getFeatureFlagKeys',
    isAudited: false,
    summary: 'Get the keys of flags by id',
    description: 'Ids that are not integers or do not exist are ignored; `warning` names the invalid ones.',
    access: inProject('feature_flag:read'),
    body: Type.Object({ ids: Type.Optional(FreeListInput(10_000, mebibyte, 'Flag ids.', [12, 13])) }),
    bodyOptional: true,
    responses: {
      200: Type.Object({
        keys: Type.Record(Type.String(), Type.String(), {
          description: 'Flag id → key.',
          examples: [{ '12': 'new-checkout' }],
        }),
        warning: Type.Optional(Text('Which ids were ignored.')),
      }),
    },
  }),
  remove: projectRoute.post(`${flags}/bulk_delete`, {
    operationId: 'bulkDeleteFeatureFlags',
    summary: 'Soft-delete flags in one transaction; flags that cannot be deleted are returned with the reason',
    description:
      'Select flags by `ids` or by the `filters` of the list. Flags that the caller cannot edit, or that other flags depend on, are returned in `errors`.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      ids: Type.Optional(Ids),
      filters: Type.Optional(
        FreeObjectInput(64 * kibibyte, 'The filters of the list, instead of ids.', { search: 'checkout' }),
      ),
    }),
    mayConflict: true,
    responses: {
      200: Type.Object({
        deleted: List(
          Type.Object({
            id: Integer('Id of the flag.', 12),
            key: Text('Key of the flag.', 'new-checkout'),
            rollout_state: Type.String({
              enum: ['fully_rolled_out', 'not_rolled_out', 'partial'],
              description: 'How far the flag was rolled out.',
              examples: ['partial'],
            }),
            active_variant: Nullable(Text('Variant that everyone gets, if there is one.', null)),
          }),
          'Flags that were deleted.',
        ),
        errors: List(BulkError, 'Flags that were not changed.', []),
      }),
    },
  }),
  update: projectRoute.post(`${flags}/bulk_update`, {
    operationId: 'bulkUpdateFeatureFlags',
    summary: 'Switch flags on or off and change their tags in one transaction',
    description: 'Flags that the caller cannot edit are returned in `errors`; the others are changed together.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      ids: Ids,
      active: Type.Optional(Bool('`true` switches the flags on, `false` off.', true)),
      tags: Type.Optional(TagsInput('Tags to apply.', ['checkout'])),
      tags_action: Type.Optional(
        Type.Union([Type.Literal('add'), Type.Literal('remove'), Type.Literal('set')], {
          description: 'How to apply `tags`; `set` by default.',
        }),
      ),
    }),
    mayConflict: true,
    responses: {
      200: Type.Object({
        updated: List(
          Type.Object({
            id: Integer('Id of the flag.', 12),
            key: Text('Key of the flag.', 'new-checkout'),
            active: Bool('Whether the flag is switched on.', true),
            tags: List(Type.Unknown(), 'Tags of the flag.', ['checkout']),
            version: Integer('New version of the flag.', 2),
          }),
          'Flags that were changed.',
        ),
        errors: List(BulkError, 'Flags that were not changed.', []),
      }),
    },
  }),
}
