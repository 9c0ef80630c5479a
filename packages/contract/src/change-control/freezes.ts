import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { inOrganization, routesOf } from '../route.ts'
import {
  Bool,
  IdInput,
  IdParam,
  Instant,
  InstantInput,
  Integer,
  List,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  OrganizationParams,
  Text,
  TextInput,
} from '../schema.ts'

/** A recurring freeze lasts at most this long. */
export const freezeMinutesMax = 31 * 24 * 60

const scopeFields = {
  environment_set: Nullable(Integer('Only the projects of this environment set.', null)),
  project: Nullable(Integer('Only this project.', 1)),
  tag: Nullable(Text('Only flags with this tag.', null)),
}

export const Freeze = NamedObject(
  'Freeze',
  'A time in which flags and cohorts are not changed, except to switch them off.',
  {
    id: Integer('Unique id of the freeze.', 2),
    ...scopeFields,
    starts_at: Nullable(Instant('Start of a one-off freeze.')),
    ends_at: Nullable(Instant('End of a one-off freeze.')),
    rrule: Nullable(Text('When a recurring freeze starts (RFC 5545), in local time.', null)),
    duration_minutes: Nullable(Integer('How long a recurring freeze lasts.', null)),
    time_zone: Text('IANA time zone of `rrule`.', 'UTC'),
    reason: Text('Why changes are frozen.', 'Black Friday'),
    except_roles: List(Type.String(), 'Ids of roles whose members are not held up.', []),
    is_active: Bool('Whether it is in force now.'),
    current_end: Nullable(Instant('When the freeze that is in force ends.')),
    next_start: Nullable(Instant('When it starts the next time; null when it is over.')),
    created_by: UserBasic,
    created_at: Instant('When the freeze was created.'),
  },
)
export type Freeze = Static<typeof Freeze>

const freezes = '/api/organizations/:parent_lookup_organization_id/freezes' as const
const FreezeParams = Type.Object({ ...OrganizationParams.properties, freeze_id: IdParam('Id of the freeze.') })

const organizationRoute = routesOf('Freezes', { params: OrganizationParams })
const route = routesOf('Freezes')

export const freezeRoutes = {
  list: organizationRoute.get(freezes, {
    operationId: 'listFreezes',
    summary: 'List the freezes of the organization, newest first',
    description: 'Every member can read them. `is_active` and `current_end` refer to now.',
    access: inOrganization('feature_flag:read'),
    query: Type.Object({
      ...pageQuery,
      project: Type.Optional(Integer('Only freezes that concern this project.')),
    }),
    responses: { 200: Page(Freeze) },
  }),
  create: organizationRoute.post(freezes, {
    operationId: 'createFreeze',
    summary: 'Freeze flags and cohorts (admin): once, or recurring by an RRULE; switching off stays possible',
    description:
      'During a freeze changes answer 409 with the code `frozen`; schedules and approved requests wait until it ends.',
    access: inOrganization('freeze:write'),
    body: Type.Object({
      environment_set: Type.Optional(Integer('Only the projects of this environment set.')),
      project: Type.Optional(Integer('Only this project.')),
      tag: Type.Optional(NonEmptyTextInput(255, 'Only flags with this tag.')),
      starts_at: Type.Optional(InstantInput('Start of a one-off freeze; default now.')),
      ends_at: Type.Optional(InstantInput('End of a one-off freeze.')),
      rrule: Type.Optional(NonEmptyTextInput(500, 'Such as `FREQ=WEEKLY;BYDAY=FR;BYHOUR=16;BYMINUTE=0`.')),
      duration_minutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: freezeMinutesMax, description: 'How long a recurring freeze lasts.' }),
      ),
      time_zone: Type.Optional(TextInput(100, 'IANA time zone of `rrule`; default UTC.')),
      reason: NonEmptyTextInput(1000, 'Why changes are frozen.', 'Black Friday'),
      except_roles: Type.Optional(
        Type.Array(IdInput(), { maxItems: 100, description: 'Ids of roles whose members are not held up.' }),
      ),
    }),
    responses: { 201: Freeze },
  }),
  remove: route.delete(`${freezes}/:freeze_id`, {
    operationId: 'deleteFreeze',
    summary: 'End and remove a freeze (admin)',
    description: 'Changes are possible again at once.',
    access: inOrganization('freeze:write'),
    params: FreezeParams,
    responses: { 204: null },
  }),
}
