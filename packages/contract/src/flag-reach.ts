import Type, { type Static } from 'typebox'
import { Cohort } from './cohorts.ts'
import { Flag, FlagParams, FlagWrite } from './flags.ts'
import { inProject, route } from './route.ts'
import { FreeObjectInput, mebibyte, Nullable, ProjectParams } from './schema.ts'

const Somebody = Type.Object({
  id: Type.String({ description: 'The UUID of the person, or the key of the group.' }),
  distinct_id: Nullable(Type.String()),
  name: Type.String(),
  before: Type.Union([Type.Boolean(), Type.String()]),
  after: Type.Union([Type.Boolean(), Type.String()]),
})

/** Who would get what, and with `compare_to` who would gain and lose. */
export const BlastRadius = Type.Object({
  ...Flag.properties,
  users_affected: Type.Integer({ description: 'How many match a condition, rollout percentages left aside.' }),
  total_users: Type.Integer(),
  affected: Type.Integer({ description: 'The same as users_affected.' }),
  total: Type.Integer({ description: 'The same as total_users.' }),
  would_be_on: Nullable(
    Type.Integer({
      description: 'How many would get the flag, rollout percentages included; null when there is no key to go by.',
    }),
  ),
  variants: Type.Record(Type.String(), Type.Integer(), { description: 'How many would get each variant.' }),
  conditions: Type.Array(
    Type.Object({
      index: Type.Integer(),
      would_be_on: Type.Integer({
        description: 'How many get the flag by this condition, being the first that holds.',
      }),
    }),
  ),
  comparison: Nullable(
    Type.Object({
      flag_id: Type.Integer(),
      currently_on: Type.Integer(),
      gains: Type.Integer({ description: 'How many do not have the flag now and would have it.' }),
      losses: Type.Integer({ description: 'How many have the flag now and would lose it.' }),
      changes: Type.Integer({ description: 'How many keep the flag with another variant.' }),
      sample_gains: Type.Array(Somebody),
      sample_losses: Type.Array(Somebody),
    }),
  ),
})
export type BlastRadius = Static<typeof BlastRadius>

/** A flag that is being written, or one condition of it as PostHog's page sends it. */
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
    summary: 'How many people or groups some filters would reach',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      compare_to: Type.Optional(Type.String({ description: 'Id of a flag: who would gain and who would lose?' })),
    }),
    body: BlastRadiusBody,
    bodyOptional: true,
    answers: { 200: BlastRadius },
  }),
  createStaticCohort: route({
    method: 'POST',
    path: `${flags}/:id/create_static_cohort_for_flag`,
    tag,
    summary: 'A static cohort of everybody for whom the flag is on, filled in the background',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: FlagWrite,
    bodyOptional: true,
    answers: { 200: Type.Object({ ...Flag.properties, cohort: Cohort }) },
  }),
}
