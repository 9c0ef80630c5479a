import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { ProblemBody } from '../problem.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  FreeListInput,
  FreeObject,
  FreeObjectInput,
  IdInput,
  IdParam,
  Instant,
  Integer,
  List,
  mebibyte,
  NamedObject,
  Nullable,
  ObjectOf,
  ProjectParams,
  ShapedObject,
  ShapedObjectInput,
  Text,
  TextInput,
  Uuid,
} from '../schema.ts'
import { activityAnswer, activityQuery } from './activity.ts'
import { CohortFilters } from './flag-definition.ts'

export const cohortNameCharactersMax = 400
export const cohortDescriptionCharactersMax = 1000

/** PostHog's shape; the last four fields are Halyard's. */
export const Cohort = NamedObject('Cohort', 'A named set of persons: dynamic (by filters) or static (a list).', {
  id: Integer('Unique id of the cohort.', 7),
  name: Text('Name of the cohort.', 'Beta testers'),
  description: Text('Description of the cohort.', 'Customers who opted in'),
  groups: List(Type.Unknown(), 'Always empty: legacy groups are returned as filters.', []),
  deleted: Bool('Whether the cohort is soft-deleted.', false),
  filters: ShapedObject(CohortFilters),
  query: Type.Null({ description: 'Always null: HogQL queries are not supported.' }),
  is_calculating: Bool('Whether the cohort is being counted or filled.', false),
  created_by: UserBasic,
  created_at: Instant('When the cohort was created.'),
  last_calculation: Nullable(Instant('When the members were last counted.')),
  errors_calculating: Integer('Number of consecutive failures to count or fill.', 0),
  count: Nullable(Integer('Number of members; null before the first count.', 42)),
  is_static: Bool('Whether the cohort is a fixed list of persons.', false),
  last_error: Nullable(Text('Message of the last failure.', null)),
  progress: Nullable(
    Type.Object(
      {
        processed: Integer('Number of persons or ids processed.', 500),
        total: Nullable(Integer('Number of persons or ids to process, if known.', 2000)),
      },
      { description: 'Progress of counting or filling; null when idle.', examples: [null] },
    ),
  ),
  version: Integer('Incremented by each change; send it back to detect conflicts (409).', 1),
  counted_events: List(
    Type.Object({
      event: Text('Name of the event.', 'paid'),
      counted_since: Instant('Since when the event is counted. What people did before is known from `history` only.'),
      history: Nullable(
        ObjectOf('What people did before, from ClickHouse; null where it is not recorded.', {
          since: Nullable(
            Text('First day (UTC) of which every event is known; null when there is none before.', '2026-01-31'),
          ),
          percent: Integer('How much of the history has been read; 100 when it counts in full.', 100),
        }),
      ),
    }),
    'The events that its behavioral filters name.',
    [],
  ),
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

export const CohortWrite = NamedObject(
  'CohortWrite',
  'Writable fields of a cohort. Omitted fields do not change.',
  {
    name: Type.Optional(Nullable(TextInput(cohortNameCharactersMax, 'Name of the cohort.', 'Beta testers'))),
    description: Type.Optional(
      Nullable(TextInput(cohortDescriptionCharactersMax, 'Description of the cohort.', 'Customers who opted in')),
    ),
    filters: Type.Optional(Nullable(ShapedObjectInput(CohortFilters, 4 * mebibyte))),
    groups: Type.Optional(
      FreeListInput(10_000, 4 * mebibyte, 'The older form of `filters`: any of these groups of properties.'),
    ),
    query: Type.Optional(Nullable(FreeObjectInput(mebibyte, 'Not supported; must be null.'))),
    is_static: Type.Optional(Bool('Whether the cohort is a fixed list of persons. Cannot be changed later.')),
    deleted: Type.Optional(Bool('`true` soft-deletes the cohort, `false` restores it.')),
    distinct_ids: Type.Optional(distinctIds),
    person_ids: Type.Optional(personIds),
    version: Type.Optional(Integer('Version that the change is based on. Returns 409 if it is out of date.')),
  },
  {
    name: 'Beta testers',
    filters: {
      properties: {
        type: 'OR',
        values: [{ type: 'AND', values: [{ key: 'plan', type: 'person', operator: 'exact', value: 'beta' }] }],
      },
    },
  },
)
export type CohortWrite = Static<typeof CohortWrite>

const CohortMembers = NamedObject(
  'CohortMembers',
  'Persons to add to a static cohort.',
  {
    distinct_ids: Type.Optional(distinctIds),
    person_ids: Type.Optional(personIds),
  },
  { distinct_ids: ['user-1', 'user-2'] },
)
const CohortMember = NamedObject(
  'CohortMembersRemoval',
  'Persons to remove from a static cohort.',
  {
    ...CohortMembers.properties,
    person_id: Type.Optional(IdInput('UUID of one person.')),
    distinct_id: Type.Optional(TextInput(1000, 'Distinct id of one person.', 'user-1')),
  },
  { distinct_ids: ['user-1'] },
)

/** A cohort with the outcome of adding or removing members. */
const CohortChanged = NamedObject('CohortChange', 'A cohort with the outcome of adding or removing members.', {
  ...Cohort.properties,
  added: Type.Optional(Integer('Number of persons added.', 2)),
  removed: Type.Optional(Integer('Number of persons removed.', 0)),
  unknown: Type.Optional(Integer('Number of ids without a person.', 0)),
  unknown_ids: Type.Optional(List(Type.String(), 'Up to 100 of the distinct ids without a person.', [])),
})

const MemberPerson = NamedObject('CohortPerson', 'A member of a cohort.', {
  id: Uuid('UUID of the person.'),
  uuid: Uuid('UUID of the person.'),
  type: Type.Literal('person', { description: 'Always `person`.' }),
  name: Text('Display name of the person.', 'ada@example.com'),
  distinct_ids: List(Type.String(), 'Distinct ids of the person.', ['user-1']),
  properties: FreeObject('Properties of the person.', { email: 'ada@example.com', plan: 'pro' }),
  created_at: Instant('When the person was created.'),
})

const CohortPersons = NamedObject('PageOfCohortPersons', 'A page of members of a cohort.', {
  results: List(MemberPerson, 'Members of this page.'),
  next: Nullable(Text('URL of the next page.', null)),
  previous: Nullable(Text('URL of the previous page.', null)),
})

const CohortParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Cohort id.') })
const CohortActivity = NamedObject('PageOfActivity', 'A page of activity.', activityAnswer)

const cohorts = '/api/projects/:project_id/cohorts' as const

const projectRoute = routesOf('Cohorts', { params: ProjectParams })
const cohortRoute = routesOf('Cohorts', { params: CohortParams })

export const cohortRoutes = {
  list: projectRoute.get(cohorts, {
    operationId: 'listCohorts',
    summary: 'List the cohorts of the project, newest first',
    description: 'Returns a page of cohorts with their filters and member counts.',
    access: inProject('cohort:read'),
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Text('Part of the name.')),
      type: Type.Optional(Type.String({ enum: ['static', 'dynamic'], description: 'Only cohorts of this type.' })),
      deleted: Type.Optional(Bool('`true` lists the deleted cohorts instead.')),
    }),
    responses: { 200: Page(Cohort) },
  }),
  create: projectRoute.post(cohorts, {
    operationId: 'createCohort',
    summary: 'Create a cohort: dynamic by filters, or static from distinct ids, persons or a CSV file',
    description:
      'With `is_static` and `distinct_ids`, `person_ids` or a CSV file the cohort is a fixed list; otherwise it is dynamic and evaluated on every request. Members are counted in the background.',
    access: inProject('cohort:write'),
    query: Type.Object({ name: Type.Optional(Text('The name, when the body is `text/csv`.')) }),
    body: CohortWrite,
    responses: { 201: CohortChanged },
  }),
  get: cohortRoute.get(`${cohorts}/:id`, {
    operationId: 'getCohort',
    summary: 'Get a cohort, deleted or not',
    description: 'Returns the cohort with its filters, its count and the state of the count.',
    access: inProject('cohort:read'),
    responses: { 200: Cohort },
  }),
  update: cohortRoute.patch(`${cohorts}/:id`, {
    operationId: 'updateCohort',
    summary: 'Change, delete (`deleted: true`) or restore a cohort; listed persons are added',
    description: 'Changes only the fields that the body contains. A cohort that a flag uses cannot be deleted.',
    access: inProject('cohort:write'),
    body: CohortWrite,
    mayConflict: true,
    responses: { 200: CohortChanged },
  }),
  remove: cohortRoute.delete(`${cohorts}/:id`, {
    operationId: 'deleteCohort',
    summary: 'Not allowed: cohorts are deleted by PATCH with `deleted: true`',
    description: 'Always returns 405. Cohorts are soft-deleted, so that they can be restored.',
    access: inProject('cohort:write'),
    responses: { 405: ProblemBody },
  }),
  persons: cohortRoute.get(`${cohorts}/:id/persons`, {
    operationId: 'listCohortPersons',
    summary: 'List the members of a cohort, newest first',
    description: 'For a dynamic cohort the members are evaluated at the time of the request.',
    access: inProject('cohort:read'),
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Text('Part of a distinct id or of a property.')),
    }),
    responses: { 200: CohortPersons },
  }),
  addPersons: cohortRoute.post(`${cohorts}/:id/persons`, {
    operationId: 'addCohortPersons',
    summary: 'Add members to a static cohort: distinct ids, persons or a CSV file',
    description:
      'Accepts JSON or a CSV file (`text/csv` or `multipart/form-data`) with one id per line. Ids without a person are skipped and counted in `unknown`.',
    access: inProject('cohort:write'),
    body: CohortMembers,
    mayConflict: true,
    responses: { 200: CohortChanged },
  }),
  addToStatic: cohortRoute.patch(`${cohorts}/:id/add_persons_to_static_cohort`, {
    operationId: 'addPersonsToStaticCohort',
    summary: 'Add members to a static cohort',
    description: 'The same as `POST …/persons/`, at the path that PostHog uses.',
    access: inProject('cohort:write'),
    body: CohortMembers,
    mayConflict: true,
    responses: { 200: CohortChanged },
  }),
  removeFromStatic: cohortRoute.patch(`${cohorts}/:id/remove_person_from_static_cohort`, {
    operationId: 'removePersonFromStaticCohort',
    summary: 'Remove members from a static cohort',
    description: 'Removes persons by distinct id or UUID. Ids without a person are counted in `unknown`.',
    access: inProject('cohort:write'),
    body: CohortMember,
    mayConflict: true,
    responses: { 200: CohortChanged },
  }),
  duplicate: cohortRoute.post(`${cohorts}/:id/duplicate_as_static_cohort`, {
    operationId: 'duplicateCohortAsStatic',
    summary: 'Create a static copy of a dynamic cohort, filled in the background',
    description: 'Returns the new cohort at once; `is_calculating` is true until all members have been added.',
    access: inProject('cohort:write'),
    responses: { 200: Cohort },
  }),
  duplicateByGet: cohortRoute.get(`${cohorts}/:id/duplicate_as_static_cohort`, {
    operationId: 'duplicateCohortAsStaticWithGet',
    isAudited: true,
    summary: 'Create a static copy of a dynamic cohort (with GET, as in PostHog)',
    description: 'The same as with POST, for clients that use GET as PostHog does. Creates a new cohort on each call.',
    access: inProject('cohort:write'),
    responses: { 200: Cohort },
  }),
  calculate: cohortRoute.post(`${cohorts}/:id/calculate`, {
    operationId: 'calculateCohort',
    summary: 'Recount a dynamic cohort in the background',
    description: 'Returns the cohort at once; `is_calculating` is true until the count is done.',
    access: inProject('cohort:write'),
    responses: { 200: Cohort },
  }),
  activity: cohortRoute.get(`${cohorts}/:id/activity`, {
    operationId: 'listCohortActivity',
    summary: 'List the activity of a cohort, newest first',
    description: 'Returns who changed which field of the cohort and when.',
    access: inProject('activity_log:read', 'cohort:read'),
    query: Type.Object(activityQuery),
    responses: { 200: CohortActivity },
  }),
  projectActivity: projectRoute.get(`${cohorts}/activity`, {
    operationId: 'listProjectCohortActivity',
    summary: 'List the activity of all cohorts of the project, newest first',
    description: 'Returns who changed which cohort of the project and when.',
    access: inProject('activity_log:read', 'cohort:read'),
    query: Type.Object(activityQuery),
    responses: { 200: CohortActivity },
  }),
}
