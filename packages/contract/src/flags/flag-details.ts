import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  IdInput,
  IdParam,
  Instant,
  Integer,
  List,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  OneOf,
  ProjectParams,
  Text,
  TextInput,
} from '../schema.ts'
import { FlagParams } from './flags.ts'

export const flagLinksMax = 20
export const flagCommentCharactersMax = 10_000
export const dependencyNodesMax = 200

const FlagLink = NamedObject('FlagLink', 'A link to something about the flag, such as an issue.', {
  title: TextInput(200, 'Text of the link.', 'SHOP-123'),
  url: TextInput(2000, 'An http or https URL.', 'https://issues.example.com/SHOP-123'),
})
const expectedEnd = (description: string) => TextInput(32, description, '2026-12-31')

export const FlagDetails = NamedObject(
  'FlagDetails',
  'Who looks after a flag, until when, and where more is written about it.',
  {
    flag_id: Integer('Id of the flag.', 12),
    owner: Nullable(UserBasic),
    expected_end: Nullable(expectedEnd('The day after which the flag should be gone.')),
    links: List(FlagLink, 'Links, at most 20.'),
    comment_count: Integer('Number of comments.', 2),
  },
)
export type FlagDetails = Static<typeof FlagDetails>

export const FlagComment = NamedObject('FlagComment', 'A comment on a flag.', {
  id: Integer('Unique id of the comment.', 3),
  text: Text('The comment.', 'Remove after the migration.'),
  created_by: UserBasic,
  created_at: Instant('When it was written.'),
})
export type FlagComment = Static<typeof FlagComment>

const UsingFlag = NamedObject('UsingFlag', 'A flag with a condition on this one.', {
  id: Integer('Id of the flag.', 13),
  key: Text('Key of the flag.', 'new-cart'),
  active: Bool('Whether the flag is on.'),
})
const UsingCohort = NamedObject('UsingCohort', 'A cohort whose filters refer to this one.', {
  id: Integer('Id of the cohort.', 4),
  name: Text('Name of the cohort.', 'Paying'),
})
export const UsedBy = NamedObject('UsedBy', 'What depends on a flag or a cohort.', {
  flags: List(UsingFlag, 'Flags whose conditions use it directly.'),
  cohorts: List(UsingCohort, 'Cohorts whose filters use it directly.'),
  pending_schedules: Integer('Number of its pending scheduled changes.', 1),
  environments: List(
    NamedObject('UsingEnvironment', 'Another environment with a flag of the same key.', {
      project_id: Integer('Id of the project.', 2),
      name: Text('Name of the environment.', 'Production'),
      active: Bool('Whether the flag is on there.'),
    }),
    'Other environments with the same flag.',
  ),
  last_called_at: Nullable(Instant('When its value was last requested.')),
  code_references: Integer('Number of lines of code that name it.', 3),
  code_repositories: List(Text('Name of a repository.', 'acme/shop'), 'Repositories with these lines.'),
})
export type UsedBy = Static<typeof UsedBy>

const dependencyKinds = ['flag', 'cohort'] as const
const DependencyReference = NamedObject('DependencyReference', 'A flag or a cohort.', {
  kind: OneOf(dependencyKinds, { description: 'What it is.', examples: ['flag'] }),
  id: Integer('Id of the flag or cohort.', 12),
})
const DependencyNode = NamedObject('DependencyNode', 'A flag or a cohort with what it depends on.', {
  ...DependencyReference.properties,
  name: Text('Key of the flag, or name of the cohort.', 'new-cart'),
  active: Nullable(Bool('Whether the flag is on; null for a cohort.')),
  uses: List(DependencyReference, 'Listed flags and cohorts that its conditions use directly.'),
})
export type DependencyNode = Static<typeof DependencyNode>

export const FlagDependencies = NamedObject('FlagDependencies', 'Which flags depend on which.', {
  count: Integer('Number of flags and cohorts; more than are listed in a large project.'),
  results: List(DependencyNode, `At most ${dependencyNodesMax}.`),
})
export type FlagDependencies = Static<typeof FlagDependencies>

export const healthChecks = ['stale', 'never_evaluated', 'constant', 'fully_rolled_out', 'no_owner', 'expired'] as const
export type HealthCheck = (typeof healthChecks)[number]
export const Check = Type.Union(
  [
    Type.Literal('stale'),
    Type.Literal('never_evaluated'),
    Type.Literal('constant'),
    Type.Literal('fully_rolled_out'),
    Type.Literal('no_owner'),
    Type.Literal('expired'),
  ],
  { description: 'Name of a check.', examples: ['stale'] },
)

export const FlagHealth = NamedObject('FlagHealth', 'What is due for a flag.', {
  id: Integer('Id of the flag.', 12),
  key: Text('Key of the flag.', 'new-checkout'),
  name: Text('Description of the flag.', 'The new checkout'),
  active: Bool('Whether the flag is on.'),
  created_at: Instant('When the flag was created.'),
  updated_at: Instant('When the flag was last changed.'),
  last_called_at: Nullable(Instant('When its value was last requested.')),
  checks: List(Check, 'The checks that the flag does not pass.'),
  constant_value: Nullable(
    Type.Union([Type.Boolean(), Type.String()], {
      description: 'The only value that an active flag can have; null when there are several.',
      examples: [true],
    }),
  ),
  owner: Nullable(UserBasic),
  expected_end: Nullable(expectedEnd('The day after which the flag should be gone.')),
  can_edit: Bool('Whether the caller can edit the flag.', true),
})
export type FlagHealth = Static<typeof FlagHealth>

const project = '/api/projects/:project_id' as const
const flag = `${project}/feature_flags/:id` as const
const CommentParams = Type.Object({ ...FlagParams.properties, comment_id: IdParam('Id of the comment.') })
const CohortParams = Type.Object({ ...ProjectParams.properties, id: IdParam('Cohort id.') })

const projectRoute = routesOf('Flag health', { params: ProjectParams })
const flagRoute = routesOf('Flag health', { params: FlagParams })
const route = routesOf('Flag health')

export const flagDetailRoutes = {
  health: projectRoute.get(`${project}/flag_health`, {
    operationId: 'listFlagHealth',
    summary: 'List the flags that need attention',
    description:
      'Flags that are neither deleted nor archived and do not pass a check, those with the most first. Constant flags are proved to have one value for everyone.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      ...pageQuery,
      check: Type.Optional(Text(`Only flags that do not pass it: ${healthChecks.join(', ')}.`)),
      search: Type.Optional(Text('Part of the key or description, case-insensitive.')),
      flag_id: Type.Optional(Integer('Only this flag, even when it passes all checks.')),
    }),
    responses: {
      200: Type.Object({
        ...Page(FlagHealth).properties,
        summary: Type.Record(Type.String(), Type.Integer(), {
          description: 'Number of flags of the project by check.',
          examples: [{ stale: 3, no_owner: 12 }],
        }),
      }),
    },
  }),
  listDetails: projectRoute.get(`${project}/flag_details`, {
    operationId: 'listFlagDetails',
    summary: 'List owners, expected ends and links of all flags',
    description: 'Flags without any of these are not listed. Ordered by flag id.',
    access: inProject('feature_flag:read'),
    query: Type.Object(pageQuery),
    responses: { 200: Page(FlagDetails) },
  }),
  getDetails: flagRoute.get(`${flag}/details`, {
    operationId: 'getFlagDetails',
    summary: 'Get owner, expected end and links of a flag',
    description: 'All of them are empty until they are set.',
    access: inProject('feature_flag:read'),
    responses: { 200: FlagDetails },
  }),
  updateDetails: flagRoute.patch(`${flag}/details`, {
    operationId: 'updateFlagDetails',
    summary: 'Set owner, expected end and links of a flag',
    description: 'Fields that are not sent stay as they are. The flag itself keeps its version.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      owner: Type.Optional(Nullable(IdInput('UUID of a member of the organization; null for no owner.'))),
      expected_end: Type.Optional(Nullable(expectedEnd('A day; null for none.'))),
      links: Type.Optional(
        Type.Array(FlagLink, { maxItems: flagLinksMax, description: 'All links; replaces the stored ones.' }),
      ),
    }),
    responses: { 200: FlagDetails },
  }),
  listComments: flagRoute.get(`${flag}/comments`, {
    operationId: 'listFlagComments',
    summary: 'List the comments on a flag, newest first',
    description: 'Everyone who can read the flag can read them.',
    access: inProject('feature_flag:read'),
    query: Type.Object(pageQuery),
    responses: { 200: Page(FlagComment) },
  }),
  createComment: flagRoute.post(`${flag}/comments`, {
    operationId: 'createFlagComment',
    summary: 'Comment on a flag',
    description: 'A flag can have at most 1000 comments.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      text: NonEmptyTextInput(flagCommentCharactersMax, 'The comment.', 'Remove after the migration.'),
    }),
    responses: { 201: FlagComment },
  }),
  deleteComment: route.delete(`${flag}/comments/:comment_id`, {
    operationId: 'deleteFlagComment',
    summary: 'Delete a comment: your own, or any as an admin',
    description: 'The comment cannot be restored.',
    access: inProject('feature_flag:write'),
    params: CommentParams,
    responses: { 204: null },
  }),
  dependencies: projectRoute.get(`${project}/flag_dependencies`, {
    operationId: 'listFlagDependencies',
    summary: 'List which flags depend on which',
    description:
      'Flags with a condition on another flag, the flags that they use, and cohorts in between. With `flag_id`: everything that the flag depends on and that depends on it, nearest first. Archived and deleted flags are left out.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      flag_id: Type.Optional(Integer('Only what is connected to this flag.', 12)),
    }),
    responses: { 200: FlagDependencies },
  }),
  flagUsedBy: flagRoute.get(`${flag}/used_by`, {
    operationId: 'getFlagUsedBy',
    summary: 'List what depends on a flag',
    description: 'Read it before you delete or archive the flag.',
    access: inProject('feature_flag:read'),
    responses: { 200: UsedBy },
  }),
  cohortUsedBy: route.get(`${project}/cohorts/:id/used_by`, {
    operationId: 'getCohortUsedBy',
    summary: 'List what depends on a cohort',
    description: 'Read it before you delete the cohort.',
    access: inProject('cohort:read'),
    params: CohortParams,
    responses: { 200: UsedBy },
  }),
}
