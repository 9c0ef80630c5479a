import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import { Integer, List, mebibyte, NamedObject, Nullable, ProjectParams, ShapedObjectInput, Text } from '../schema.ts'
import { Cohort } from './cohorts.ts'
import { Condition } from './flag-definition.ts'
import { Flag, FlagParams, FlagWrite } from './flags.ts'

const SampledSubject = NamedObject('SampledSubject', 'A person or group whose value would change.', {
  id: Text('The UUID of the person, or the key of the group.', '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d'),
  distinct_id: Nullable(Text('A distinct id of the person.', 'user-1')),
  name: Text('Display name.', 'ada@example.com'),
  before: Type.Union([Type.Boolean(), Type.String()], { description: 'Current value.', examples: [false] }),
  after: Type.Union([Type.Boolean(), Type.String()], { description: 'Value with the change.', examples: [true] }),
})

/** The number of affected subjects and, with `compare_to`, of gains and losses. */
export const BlastRadius = NamedObject('BlastRadius', 'The number of affected subjects, in the shape of a flag.', {
  ...Flag.properties,
  users_affected: Integer('Number of subjects that match a condition, ignoring rollout percentages.', 120),
  total_users: Integer('Number of all persons or groups.', 1000),
  affected: Integer('Same as `users_affected`.', 120),
  total: Integer('Same as `total_users`.', 1000),
  would_be_on: Nullable(
    Integer(
      'Number of subjects for which the flag would be on, including rollout percentages; null without a key.',
      60,
    ),
  ),
  variants: Type.Record(Type.String(), Type.Integer(), {
    description: 'Number of subjects per variant.',
    examples: [{ control: 30, 'large-button': 30 }],
  }),
  conditions: List(
    Type.Object({
      index: Integer('Index of the condition.', 0),
      would_be_on: Integer('Number of subjects for which this is the first matching condition.', 60),
    }),
    'Subjects by condition.',
  ),
  comparison: Nullable(
    Type.Object(
      {
        flag_id: Integer('Id of the flag that is compared with.', 12),
        currently_on: Integer('Number of subjects for which the stored flag is on.', 40),
        gains: Integer('Number of subjects for which the flag would be switched on.', 25),
        losses: Integer('Number of subjects for which the flag would be switched off.', 5),
        changes: Integer('Number of subjects that would get another variant.', 0),
        sample_gains: List(SampledSubject, 'Some of the gains.'),
        sample_losses: List(SampledSubject, 'Some of the losses.'),
      },
      { description: 'Comparison with the stored flag; null without `compare_to`.', examples: [null] },
    ),
  ),
})
export type BlastRadius = Static<typeof BlastRadius>

/** A candidate flag, or a single condition as PostHog's web app sends it. */
const BlastRadiusBody = NamedObject(
  'BlastRadiusQuery',
  'A flag that is not stored, or one condition.',
  {
    ...FlagWrite.properties,
    condition: Type.Optional(Nullable(ShapedObjectInput(Condition, 4 * mebibyte))),
    group_type_index: Type.Optional(Nullable(Integer('Index of the group type, to count groups instead of persons.'))),
  },
  { filters: { groups: [{ properties: [], rollout_percentage: 10 }] } },
)

const route = routesOf('Feature flags')
const flags = '/api/projects/:project_id/feature_flags' as const

export const flagReachRoutes = {
  userBlastRadius: route.post(`${flags}/user_blast_radius`, {
    operationId: 'getUserBlastRadius',
    isAudited: false,
    summary: 'Count the persons or groups that filters would affect',
    description:
      'Nothing is stored. Counts all persons or groups of the project; on large projects a request can take seconds.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      compare_to: Type.Optional(Integer('Id of a flag to compare with.')),
    }),
    body: BlastRadiusBody,
    bodyOptional: true,
    responses: { 200: BlastRadius },
  }),
  createStaticCohort: route.post(`${flags}/:id/create_static_cohort_for_flag`, {
    operationId: 'createStaticCohortForFeatureFlag',
    summary: 'Create a static cohort of all persons who have the flag on, filled in the background',
    description:
      'Returns the flag with the new cohort; `cohort.is_calculating` is true until all members have been added. The body is ignored.',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: FlagWrite,
    bodyOptional: true,
    responses: { 200: Type.Object({ ...Flag.properties, cohort: Cohort }) },
  }),
}
