import Type, { type Static } from 'typebox'
import { activityAnswer, activityQuery } from './activity.ts'
import { Page, pageQuery } from './page.ts'
import { inProject, route } from './route.ts'
import {
  FreeListInput,
  FreeObject,
  FreeObjectInput,
  IdInput,
  IdParam,
  Instant,
  mebibyte,
  Nullable,
  ProjectParams,
  Uuid,
} from './schema.ts'
import { UserBasic } from './users.ts'

export const cohortNameCharactersMax = 400
export const cohortDescriptionCharactersMax = 1000

/** PostHog's shape; the last three fields are Halyard's. */
export const Cohort = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  description: Type.String(),
  groups: Type.Array(Type.Unknown(), { description: 'Always empty: legacy groups are returned as filters.' }),
  deleted: Type.Boolean(),
  filters: FreeObject('`{"properties": {"type": "AND" | "OR", "values": […]}}`; `{}` for a static cohort.'),
  query: Type.Null(),
  is_calculating: Type.Boolean({ description: 'Whether the cohort is being counted or filled.' }),
  created_by: UserBasic,
  created_at: Instant(),
  last_calculation: Nullable(Instant()),
  errors_calculating: Type.Integer({ description: 'Number of consecutive failures to count or fill.' }),
  count: Nullable(Type.Integer({ description: 'Number of members; null before the first count.' })),
  is_static: Type.Boolean(),
  last_error: Nullable(Type.String()),
  progress: Nullable(
    Type.Object({
      processed: Type.Integer({ description: 'Number of persons or ids processed.' }),
      total: Nullable(Type.Integer()),
    }),
  ),
  version: Type.Integer(),
})
export type Cohort = Static<typeof Cohort>

const cohortMembersMax = 1_000_000
const distinctIds = Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), {
  maxItems: cohortMembersMax,
  description: 'Distinct ids of persons to add.',
})
const personIds = Type.Array(IdInput(), {
  maxItems: cohortMembersMax,
  description: 'UUIDs of persons to add.',
})

export const CohortWrite = Type.Object({
  name: Type.Optional(Nullable(Type.String({ maxLength: cohortNameCharactersMax }))),
  description: Type.Optional(Nullable(Type.String({ maxLength: cohortDescriptionCharactersMax }))),
  filters: Type.Optional(Nullable(FreeObjectInput(4 * mebibyte))),
  groups: Type.Optional(
    FreeListInput(10_000, 4 * mebibyte, 'The older form of `filters`: any of these groups of properties.'),
  ),
  query: Type.Optional(Nullable(FreeObjectInput(mebibyte))),
  is_static: Type.Optional(Type.Boolean()),
  deleted: Type.Optional(Type.Boolean()),
  distinct_ids: Type.Optional(distinctIds),
  person_ids: Type.Optional(personIds),
  version: Type.Optional(Type.Integer()),
})
export type CohortWrite = Static<typeof CohortWrite>

const CohortMembers = Type.Object({
  distinct_ids: Type.Optional(distinctIds),
  person_ids: Type.Optional(personIds),
})
const CohortMember = Type.Object({
  ...CohortMembers.properties,
  person_id: Type.Optional(IdInput()),
  distinct_id: Type.Optional(Type.String({ maxLength: 1000 })),
})

/** A cohort with the outcome of adding or removing members. */
const CohortChanged = Type.Object({
  ...Cohort.properties,
  added: Type.Optional(Type.Integer({ description: 'Number of persons added.' })),
  removed: Type.Optional(Type.Integer()),
  unknown: Type.Optional(Type.Integer({ description: 'Number of ids without a person.' })),
  unknown_ids: Type.Optional(
    Type.Array(Type.String(), { description: 'Up to 100 of the distinct ids without a person.' }),
  ),
})

const MemberPerson = Type.Object({
  id: Uuid(),
  uuid: Uuid(),
  type: Type.Literal('person'),
  name: Type.String(),
  distinct_ids: Type.Array(Type.String()),
  properties: FreeObject(),
  created_at: Instant(),
})

const CohortPersons = Type.Object({
  results: Type.Array(MemberPerson),
  next: Nullable(Type.String({ description: 'URL of the next page.' })),
  previous: Nullable(Type.String({ description: 'URL of the previous page.' })),
})

const CohortParams = Type.Object({ ...ProjectParams.properties, id: IdParam() })
const CohortActivity = Type.Object(activityAnswer)

const tag = 'Cohorts'
const cohorts = '/api/projects/:project_id/cohorts' as const

export const cohortRoutes = {
  list: route({
    method: 'GET',
    path: cohorts,
    tag,
    summary: 'List the cohorts of the project, newest first',
    access: inProject('cohort:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Type.String({ description: 'Part of the name.' })),
      type: Type.Optional(Type.String({ description: '`static` or `dynamic`.' })),
      deleted: Type.Optional(Type.String({ description: '`true` lists the deleted cohorts instead.' })),
    }),
    answers: { 200: Page(Cohort) },
  }),
  create: route({
    method: 'POST',
    path: cohorts,
    tag,
    summary: 'Create a cohort: dynamic by filters, or static from distinct ids, persons or a CSV file',
    access: inProject('cohort:write'),
    params: ProjectParams,
    query: Type.Object({ name: Type.Optional(Type.String({ description: 'The name, when the body is `text/csv`.' })) }),
    body: CohortWrite,
    answers: { 201: CohortChanged },
  }),
  get: route({
    method: 'GET',
    path: `${cohorts}/:id`,
    tag,
    summary: 'Get a cohort, deleted or not',
    access: inProject('cohort:read'),
    params: CohortParams,
    answers: { 200: Cohort },
  }),
  update: route({
    method: 'PATCH',
    path: `${cohorts}/:id`,
    tag,
    summary: 'Change, delete (`deleted: true`) or restore a cohort; listed persons are added',
    access: inProject('cohort:write'),
    params: CohortParams,
    body: CohortWrite,
    answers: { 200: CohortChanged },
  }),
  remove: route({
    method: 'DELETE',
    path: `${cohorts}/:id`,
    tag,
    summary: 'Not allowed: cohorts are deleted by PATCH with `deleted: true`',
    access: inProject('cohort:write'),
    params: Type.Object({ ...ProjectParams.properties, id: Type.String() }),
    answers: { 405: null },
  }),
  persons: route({
    method: 'GET',
    path: `${cohorts}/:id/persons`,
    tag,
    summary: 'List the members of a cohort, newest first',
    access: inProject('cohort:read'),
    params: CohortParams,
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Type.String({ description: 'Part of a distinct id or of a property.' })),
    }),
    answers: { 200: CohortPersons },
  }),
  addPersons: route({
    method: 'POST',
    path: `${cohorts}/:id/persons`,
    tag,
    summary: 'Add members to a static cohort: distinct ids, persons or a CSV file',
    access: inProject('cohort:write'),
    params: CohortParams,
    body: CohortMembers,
    answers: { 200: CohortChanged },
  }),
  addToStatic: route({
    method: 'PATCH',
    path: `${cohorts}/:id/add_persons_to_static_cohort`,
    tag,
    summary: 'Add members to a static cohort',
    access: inProject('cohort:write'),
    params: CohortParams,
    body: CohortMembers,
    answers: { 200: CohortChanged },
  }),
  removeFromStatic: route({
    method: 'PATCH',
    path: `${cohorts}/:id/remove_person_from_static_cohort`,
    tag,
    summary: 'Remove members from a static cohort',
    access: inProject('cohort:write'),
    params: CohortParams,
    body: CohortMember,
    answers: { 200: CohortChanged },
  }),
  duplicate: route({
    method: 'POST',
    path: `${cohorts}/:id/duplicate_as_static_cohort`,
    tag,
    summary: 'Create a static copy of a dynamic cohort, filled in the background',
    access: inProject('cohort:write'),
    params: CohortParams,
    answers: { 200: Cohort },
  }),
  duplicateByGet: route({
    method: 'GET',
    path: `${cohorts}/:id/duplicate_as_static_cohort`,
    tag,
    summary: 'Create a static copy of a dynamic cohort (with GET, as in PostHog)',
    access: inProject('cohort:write'),
    params: CohortParams,
    answers: { 200: Cohort },
  }),
  calculate: route({
    method: 'POST',
    path: `${cohorts}/:id/calculate`,
    tag,
    summary: 'Recount a dynamic cohort in the background',
    access: inProject('cohort:write'),
    params: CohortParams,
    answers: { 200: Cohort },
  }),
  activity: route({
    method: 'GET',
    path: `${cohorts}/:id/activity`,
    tag,
    summary: 'List the activity of a cohort, newest first',
    access: inProject('activity_log:read', 'cohort:read'),
    params: CohortParams,
    query: Type.Object(activityQuery),
    answers: { 200: CohortActivity },
  }),
  projectActivity: route({
    method: 'GET',
    path: `${cohorts}/activity`,
    tag,
    summary: 'List the activity of all cohorts of the project, newest first',
    access: inProject('activity_log:read', 'cohort:read'),
    params: ProjectParams,
    query: Type.Object(activityQuery),
    answers: { 200: CohortActivity },
  }),
}
