import Type, { type Static } from 'typebox'
import { Cohort } from './cohorts.ts'
import { Flag, FlagParams, FlagWrite } from './flags.ts'
import { inProject, route } from './route.ts'
import { FreeObjectInput, mebibyte, Nullable, ProjectParams } from './schema.ts'

const SampledSubject = Type.Object({
  id: Type.String({ description: 'The UUID of the person, or the key of the group.' }),
  distinct_id: Nullable(Type.String()),
  name: Type.String(),
  before: Type.Union([Type.Boolean(), Type.String()]),
  after: Type.Union([Type.Boolean(), Type.String()]),
})

/** The number of affected subjects and, with `compare_to`, of gains and losses. */
export const BlastRadius = Type.Object({
  ...Flag.properties,
  users_affected: Type.Integer({
    description: 'Number of subjects that match a condition, ignoring rollout percentages.',
  }),
  total_users: Type.Integer(),
  affected: Type.Integer({ description: 'Same as `users_affected`.' }),
  total: Type.Integer({ description: 'Same as `total_users`.' }),
  would_be_on: Nullable(
    Type.Integer({
      description:
        'Number of subjects for which the flag would be on, including rollout percentages; null without a key.',
    }),
  ),
  variants: Type.Record(Type.String(), Type.Integer(), { description: 'Number of subjects per variant.' }),
  conditions: Type.Array(
    Type.Object({
      index: Type.Integer(),
      would_be_on: Type.Integer({
        description: 'Number of subjects for which this is the first matching condition.',
      }),
    }),
  ),
  comparison: Nullable(
    Type.Object({
      flag_id: Type.Integer(),
      currently_on: Type.Integer(),
      gains: Type.Integer({ description: 'Number of subjects for which the flag would be switched on.' }),
      losses: Type.Integer({ description: 'Number of subjects for which the flag would be switched off.' }),
      changes: Type.Integer({ description: 'Number of subjects that would get another variant.' }),
      sample_gains: Type.Array(SampledSubject),
      sample_losses: Type.Array(SampledSubject),
    }),
  ),
})
export type BlastRadius = Static<typeof BlastRadius>

/** A candidate flag, or a single condition as PostHog's web app sends it. */
const BlastRadiusBody = Type.Object({
  ...FlagWrite.properties,
  condition: Type.Optional(Nullable(FreeObjectInput(4 * mebibyte, '`{properties, rollout_percentage?, variant?}`'))),
  group_type_index: Type.Optional(Nullable(Type.Integer())),
})

const tag = 'Feature flags'
const flags = '/api/projects/:project_id/feature_flags' as const

export const flagReachRoutes = {
  userBlastRadius: route({
    method: 'POST',
    path: `${flags}/user_blast_radius`,
    tag,
    summary: 'Count the persons or groups that filters would affect',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      compare_to: Type.Optional(Type.String({ description: 'Id of a flag to compare with.' })),
    }),
    body: BlastRadiusBody,
    bodyOptional: true,
    answers: { 200: BlastRadius },
  }),
  createStaticCohort: route({
    method: 'POST',
    path: `${flags}/:id/create_static_cohort_for_flag`,
    tag,
    summary: 'Create a static cohort of all persons who have the flag on, filled in the background',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: FlagWrite,
    bodyOptional: true,
    answers: { 200: Type.Object({ ...Flag.properties, cohort: Cohort }) },
  }),
}
