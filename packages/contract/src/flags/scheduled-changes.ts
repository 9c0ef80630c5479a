import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  FreeObject,
  FreeValueInput,
  IdParam,
  Instant,
  InstantInput,
  Integer,
  mebibyte,
  NamedObject,
  Nullable,
  ObjectOf,
  ProjectParams,
  Text,
  TextInput,
} from '../schema.ts'

const RecordId = TextInput(64, 'The id of the flag.', '12')
const Payload = NamedObject('ScheduledChangePayload', 'What to change.', {
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
        '`{condition_index, steps: [{at, rollout_percentage}, …]}`; a ramp never lowers a rollout and follows ' +
        'its condition when others are added, removed or moved.',
    },
  ),
  value: FreeValueInput(4 * mebibyte, 'Value of the operation.', true),
})

export const ScheduledChange = NamedObject('ScheduledChange', 'A change of a flag at a later time.', {
  id: Integer('Unique id of the change.', 9),
  team_id: Integer('Project id.', 1),
  record_id: RecordId,
  model_name: Type.Literal('FeatureFlag', { description: 'Always `FeatureFlag`.' }),
  payload: FreeObject('What to change: `operation` and `value`.', { operation: 'update_status', value: true }),
  scheduled_at: Instant('When the change is due.'),
  status: Type.String({
    enum: ['pending', 'done', 'failed'],
    description: 'State of the change.',
    examples: ['pending'],
  }),
  steps_done: Integer('Number of applied steps of a ramp.', 0),
  attempts: Integer('Number of failures of the current step.', 0),
  next_attempt_at: Nullable(Instant('When it is due; null when nothing is left to do.')),
  failure_reason: Nullable(Text('Reason of the last failure.', null)),
  broken_reason: Nullable(Text('Why a pending change can no longer be applied to the flag as it is now.', null)),
  condition_position: Nullable(
    Integer(
      'Where the condition of a pending ramp is now, counted from 0; null when it is gone, or without ramp.',
      null,
    ),
  ),
  executed_at: Nullable(Instant('When it was done, or the last step taken; null while it recurs.', null)),
  last_executed_at: Nullable(Instant('When it last ran.', null)),
  frozen_until: Nullable(Instant('Its next run falls into a freeze and waits until then.', null)),
  is_recurring: Bool('Whether it repeats; false with a recurrence means paused.'),
  recurrence_interval: Nullable(Text('How often it repeats.', null)),
  cron_expression: Nullable(Text('When it repeats.', '0 9 * * 1-5')),
  timezone: Text('Time zone of the recurrence.', 'Europe/Berlin'),
  end_date: Nullable(Instant('When it stops repeating.', null)),
  pair_id: Nullable(Text('The same for both changes of a pair.', null)),
  change_request: Nullable(Integer('The change request that approved it.', null)),
  created_at: Instant('When the change was scheduled.'),
  created_by: UserBasic,
  updated_at: Instant('When the change was last edited.'),
})
export type ScheduledChange = Static<typeof ScheduledChange>

const cronText =
  'Five fields (minute, hour, day, month, weekday) in the time zone, such as `0 9 * * 1-5`; at most every 5 minutes.'
const Interval = Type.Union(
  [Type.Literal('daily'), Type.Literal('weekly'), Type.Literal('monthly'), Type.Literal('yearly')],
  { description: 'How often it repeats, counted from `scheduled_at` in local time. Either this or `cron_expression`.' },
)
const Cron = TextInput(100, cronText, '0 9 * * 1-5')
const recurrenceFields = {
  is_recurring: Type.Optional(Bool('Repeats it. `false` pauses a recurring change; its recurrence is kept.')),
  recurrence_interval: Type.Optional(Nullable(Interval)),
  cron_expression: Type.Optional(Nullable(Cron)),
  timezone: Type.Optional(TextInput(100, 'IANA time zone; default that of the project.', 'UTC')),
  end_date: Type.Optional(Nullable(InstantInput('When it stops repeating.'))),
}

const changes = '/api/projects/:project_id/scheduled_changes' as const
const ChangeParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Id of the scheduled change.') })

const projectRoute = routesOf('Scheduled changes', { params: ProjectParams })
const changeRoute = routesOf('Scheduled changes', { params: ChangeParams })

export const scheduledChangeRoutes = {
  list: projectRoute.get(changes, {
    operationId: 'listScheduledChanges',
    summary: 'List pending and past scheduled changes',
    description: 'Returns a page of changes, by default of all flags and all states.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      ...pageQuery,
      record_id: Type.Optional(Integer('Only changes of the flag with this id.')),
      status: Type.Optional(
        Type.String({ enum: ['pending', 'done', 'failed'], description: 'Only changes with this status.' }),
      ),
    }),
    responses: { 200: Page(ScheduledChange) },
  }),
  create: projectRoute.post(changes, {
    operationId: 'createScheduledChange',
    summary: 'Schedule a change of a flag, or a gradual rollout',
    description:
      'Runs once across all nodes; what downtime missed runs once on recovery. Where the change needs approval, this answers 409 with the change request it opened; that approval holds for every run. During a freeze it waits.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      record_id: Type.Union([RecordId, Type.Integer()], { description: 'Id of the flag.', examples: [12] }),
      model_name: Type.Optional(Type.Literal('FeatureFlag', { description: 'Always `FeatureFlag`.' })),
      payload: Payload,
      scheduled_at: Type.Optional(InstantInput('Required, except for a ramp and with `cron_expression`.')),
      ...recurrenceFields,
      pair: Type.Optional(
        ObjectOf('Also schedules the opposite of `update_status`, such as off at 17.', {
          scheduled_at: Type.Optional(InstantInput('When it is reverted; not needed with `cron_expression`.')),
          cron_expression: Type.Optional(Cron),
        }),
      ),
    }),
    mayConflict: true,
    responses: { 201: ScheduledChange },
  }),
  get: changeRoute.get(`${changes}/:id`, {
    operationId: 'getScheduledChange',
    summary: 'Get a scheduled change',
    description: 'Returns the change with its state and the reason of the last failure.',
    access: inProject('feature_flag:read'),
    responses: { 200: ScheduledChange },
  }),
  update: changeRoute.patch(`${changes}/:id`, {
    operationId: 'updateScheduledChange',
    summary: 'Change the content or time; a failed change is retried',
    description:
      'A change that is done cannot be edited. The attempts and steps start over. Pausing or resuming one change of a pair does it for both.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      payload: Type.Optional(Payload),
      scheduled_at: Type.Optional(InstantInput('When the change is due.')),
      ...recurrenceFields,
    }),
    mayConflict: true,
    responses: { 200: ScheduledChange },
  }),
  remove: changeRoute.delete(`${changes}/:id`, {
    operationId: 'deleteScheduledChange',
    summary: 'Cancel a scheduled change and its pair; steps that were applied remain',
    description: 'Removes the record, also of a change that is done.',
    access: inProject('feature_flag:write'),
    responses: { 204: null },
  }),
}
