import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import { mebibyte, Nullable, ProjectParams, ShapedObjectInput } from '../schema.ts'
import { Cohort } from './cohorts.ts'
import { Condition } from './flag-definition.ts'
import { Flag, FlagParams, FlagWrite } from './flags.ts'

const SampledSubject = Type.Object(
  {
    id: Type.String({
      description: 'The UUID of the person, or the key of the group.',
      examples: ['0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d'],
    }),
    distinct_id: Nullable(Type.String({ description: 'A distinct id of the person.', examples: ['user-1'] })),
    name: Type.String({ description: 'Display name.', examples: ['ada@example.com'] }),
    before: Type.Union([Type.Boolean(), Type.String()], { description: 'Current value.', examples: [false] }),
    after: Type.Union([Type.Boolean(), Type.String()], { description: 'Value with the change.', examples: [true] }),
  },
  { title: 'SampledSubject', description: 'A person or group whose value would change.' },
)

/** The number of affected subjects and, with `compare_to`, of gains and losses. */
export const BlastRadius = Type.Object(
  {
    ...Flag.properties,
    users_affected: Type.Integer({
      description: 'Number of subjects that match a condition, ignoring rollout percentages.',
      examples: [120],
    }),
    total_users: Type.Integer({ description: 'Number of all persons or groups.', examples: [1000] }),
    affected: Type.Integer({ description: 'Same as `users_affected`.', examples: [120] }),
    total: Type.Integer({ description: 'Same as `total_users`.', examples: [1000] }),
    would_be_on: Nullable(
      Type.Integer({
        description:
          'Number of subjects for which the flag would be on, including rollout percentages; null without a key.',
        examples: [60],
      }),
    ),
    variants: Type.Record(Type.String(), Type.Integer(), {
      description: 'Number of subjects per variant.',
      examples: [{ control: 30, 'large-button': 30 }],
    }),
    conditions: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Index of the condition.', examples: [0] }),
        would_be_on: Type.Integer({
          description: 'Number of subjects for which this is the first matching condition.',
          examples: [60],
        }),
      }),
      { description: 'Subjects by condition.' },
    ),
    comparison: Nullable(
      Type.Object(
        {
          flag_id: Type.Integer({ description: 'Id of the flag that is compared with.', examples: [12] }),
          currently_on: Type.Integer({
            description: 'Number of subjects for which the stored flag is on.',
            examples: [40],
          }),
          gains: Type.Integer({
            description: 'Number of subjects for which the flag would be switched on.',
            examples: [25],
          }),
          losses: Type.Integer({
            description: 'Number of subjects for which the flag would be switched off.',
            examples: [5],
          }),
          changes: Type.Integer({ description: 'Number of subjects that would get another variant.', examples: [0] }),
          sample_gains: Type.Array(SampledSubject, { description: 'Some of the gains.' }),
          sample_losses: Type.Array(SampledSubject, { description: 'Some of the losses.' }),
        },
        { description: 'Comparison with the stored flag; null without `compare_to`.', examples: [null] },
      ),
    ),
  },
  { title: 'BlastRadius', description: 'The number of affected subjects, in the shape of a flag.' },
)
export type BlastRadius = Static<typeof BlastRadius>

/** A candidate flag, or a single condition as PostHog's web app sends it. */
const BlastRadiusBody = Type.Object(
  {
    ...FlagWrite.properties,
    condition: Type.Optional(Nullable(ShapedObjectInput(Condition, 4 * mebibyte))),
    group_type_index: Type.Optional(
      Nullable(Type.Integer({ description: 'Index of the group type, to count groups instead of persons.' })),
    ),
  },
  {
    title: 'BlastRadiusQuery',
    description: 'A flag that is not stored, or one condition.',
    examples: [{ filters: { groups: [{ properties: [], rollout_percentage: 10 }] } }],
  },
)

const route = routesOf('Feature flags')
const flags = '/api/projects/:project_id/feature_flags' as const

export const flagReachRoutes = {
  userBlastRadius: route({
    method: 'POST',
    path: `${flags}/user_blast_radius`,
    operationId: 'getUserBlastRadius',
    isAudited: false,
    summary: 'Count the persons or groups that filters would affect',
    description:
      'Nothing is stored. Counts all persons or groups of the project; on large projects a request can take seconds.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      compare_to: Type.Optional(Type.Integer({ description: 'Id of a flag to compare with.' })),
    }),
    body: BlastRadiusBody,
    bodyOptional: true,
    responses: { 200: BlastRadius },
  }),
  createStaticCohort: route({
    method: 'POST',
    path: `${flags}/:id/create_static_cohort_for_flag`,
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
