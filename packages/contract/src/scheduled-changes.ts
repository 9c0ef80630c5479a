import Type, { type Static } from 'typebox'
import { Page, pageQuery } from './page.ts'
import { inProject, route } from './route.ts'
import {
  FreeObject,
  FreeValueInput,
  IdParam,
  Instant,
  InstantInput,
  mebibyte,
  Nullable,
  ProjectParams,
} from './schema.ts'
import { UserBasic } from './users.ts'

const RecordId = Type.String({ maxLength: 64, description: 'The id of the flag.' })
const Payload = Type.Object({
  operation: Type.Union(
    [
      Type.Literal('update'),
      Type.Literal('update_status'),
      Type.Literal('add_release_condition'),
      Type.Literal('ramp'),
    ],
    {
      description:
        '`update`: value has writable fields of the flag. `update_status`: value is the new `active`. ' +
        '`add_release_condition`: value is `{groups: […]}`. `ramp`: value is ' +
        '`{condition_index, steps: [{at, rollout_percentage}, …]}`; a ramp never lowers a rollout and follows its ' +
        'condition when others are added, removed or moved.',
    },
  ),
  value: FreeValueInput(4 * mebibyte),
})

export const ScheduledChange = Type.Object({
  id: Type.Integer(),
  team_id: Type.Integer(),
  record_id: RecordId,
  model_name: Type.Literal('FeatureFlag'),
  payload: FreeObject(),
  scheduled_at: Instant(),
  status: Type.String({ description: '`pending`, `done` or `failed`.' }),
  steps_done: Type.Integer({ description: 'Number of applied steps of a ramp.' }),
  attempts: Type.Integer({ description: 'Number of failures of the current step.' }),
  next_attempt_at: Nullable(Instant('When it is due; null when nothing is left to do.')),
  failure_reason: Nullable(Type.String({ description: 'Reason of the last failure.' })),
  broken_reason: Nullable(
    Type.String({ description: 'Why a pending change can no longer be applied to the flag as it is now.' }),
  ),
  executed_at: Nullable(Instant('When it was done, or the last step taken.')),
  created_at: Instant(),
  created_by: UserBasic,
  updated_at: Instant(),
})
export type ScheduledChange = Static<typeof ScheduledChange>

const tag = 'Scheduled changes'
const changes = '/api/projects/:project_id/scheduled_changes' as const
const ChangeParams = Type.Object({ ...ProjectParams.properties, id: IdParam() })

export const scheduledChangeRoutes = {
  list: route({
    method: 'GET',
    path: changes,
    tag,
    summary: 'List pending and past scheduled changes',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      record_id: Type.Optional(Type.String({ description: 'Only changes of this flag.' })),
      status: Type.Optional(Type.String({ description: '`pending`, `done` or `failed`.' })),
    }),
    answers: { 200: Page(ScheduledChange) },
  }),
  create: route({
    method: 'POST',
    path: changes,
    tag,
    summary: 'Schedule a change of a flag, or a gradual rollout',
    access: inProject('feature_flag:write'),
    params: ProjectParams,
    body: Type.Object({
      record_id: Type.Union([RecordId, Type.Integer()]),
      model_name: Type.Optional(Type.Literal('FeatureFlag')),
      payload: Payload,
      scheduled_at: Type.Optional(InstantInput('Required, except for a ramp.')),
    }),
    answers: { 201: ScheduledChange },
  }),
  get: route({
    method: 'GET',
    path: `${changes}/:id`,
    tag,
    summary: 'Get a scheduled change',
    access: inProject('feature_flag:read'),
    params: ChangeParams,
    answers: { 200: ScheduledChange },
  }),
  update: route({
    method: 'PATCH',
    path: `${changes}/:id`,
    tag,
    summary: 'Change the content or time; a failed change is retried',
    access: inProject('feature_flag:write'),
    params: ChangeParams,
    body: Type.Object({ payload: Type.Optional(Payload), scheduled_at: Type.Optional(InstantInput()) }),
    answers: { 200: ScheduledChange },
  }),
  remove: route({
    method: 'DELETE',
    path: `${changes}/:id`,
    tag,
    summary: 'Cancel a scheduled change; steps that were applied remain',
    access: inProject('feature_flag:write'),
    params: ChangeParams,
    answers: { 204: null },
  }),
}
