import Type, { type Static } from 'typebox'
import { FlagParams } from './flags.ts'
import { inProject, route } from './route.ts'
import { FreeListInput, FreeObjectInput, kibibyte, mebibyte, Nullable, ProjectParams, TagsInput } from './schema.ts'

/** Maximum number of flags per request. */
export const bulkFlagsMax = 500

const FlagName = Type.Object({ id: Type.Integer(), key: Type.String(), name: Type.String() })
const BulkError = Type.Object({
  id: Type.Integer(),
  key: Type.Optional(Type.String()),
  reason: Type.String(),
  change_request: Type.Optional(
    Type.Integer({ description: 'The change request that was opened, when the change needs approval.' }),
  ),
})
export type BulkError = Static<typeof BulkError>

const tag = 'Many flags at once'
const flags = '/api/projects/:project_id/feature_flags' as const
const Ids = Type.Array(Type.Integer({ minimum: 1 }), {
  maxItems: bulkFlagsMax,
  description: `Flag ids, at most ${bulkFlagsMax}.`,
})

export const flagBulkRoutes = {
  dependents: route({
    method: 'GET',
    path: `${flags}/:id/dependent_flags`,
    tag,
    summary: 'List the active flags that depend on this one',
    access: inProject('feature_flag:read'),
    params: FlagParams,
    answers: { 200: Type.Array(FlagName) },
  }),
  keys: route({
    method: 'POST',
    path: `${flags}/bulk_keys`,
    tag,
    summary: 'Get the keys of flags by id',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    body: Type.Object({ ids: Type.Optional(FreeListInput(10_000, mebibyte)) }),
    bodyOptional: true,
    answers: {
      200: Type.Object({
        keys: Type.Record(Type.String(), Type.String()),
        warning: Type.Optional(Type.String()),
      }),
    },
  }),
  remove: route({
    method: 'POST',
    path: `${flags}/bulk_delete`,
    tag,
    summary: 'Soft-delete flags in one transaction; flags that cannot be deleted are returned with the reason',
    access: inProject('feature_flag:write'),
    params: ProjectParams,
    body: Type.Object({
      ids: Type.Optional(Ids),
      filters: Type.Optional(FreeObjectInput(64 * kibibyte, 'The filters of the list, instead of ids.')),
    }),
    answers: {
      200: Type.Object({
        deleted: Type.Array(
          Type.Object({
            id: Type.Integer(),
            key: Type.String(),
            rollout_state: Type.String({ description: '`fully_rolled_out`, `not_rolled_out` or `partial`.' }),
            active_variant: Nullable(Type.String()),
          }),
        ),
        errors: Type.Array(BulkError),
      }),
    },
  }),
  update: route({
    method: 'POST',
    path: `${flags}/bulk_update`,
    tag,
    summary: 'Switch flags on or off and change their tags in one transaction',
    access: inProject('feature_flag:write'),
    params: ProjectParams,
    body: Type.Object({
      ids: Ids,
      active: Type.Optional(Type.Boolean()),
      tags: Type.Optional(TagsInput()),
      tags_action: Type.Optional(
        Type.Union([Type.Literal('add'), Type.Literal('remove'), Type.Literal('set')], {
          description: 'How to apply `tags`; `set` by default.',
        }),
      ),
    }),
    answers: {
      200: Type.Object({
        updated: Type.Array(
          Type.Object({
            id: Type.Integer(),
            key: Type.String(),
            active: Type.Boolean(),
            tags: Type.Array(Type.Unknown()),
            version: Type.Integer(),
          }),
        ),
        errors: Type.Array(BulkError),
      }),
    },
  }),
}
