import Type, { type Static } from 'typebox'
import { FlagParams } from './flags.ts'
import { inProject, route } from './route.ts'
import { Instant, InstantInput, Nullable } from './schema.ts'

/** Maximum number of samples per request. */
export const metricSamplesMax = 1000

const Sample = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  value: Type.Number(),
  at: Type.Optional(InstantInput('When the value was measured; now by default.')),
})
export type MetricSample = Static<typeof Sample>

export const RollbackReport = Type.Object({
  performed_rollback: Type.Boolean(),
  is_watched: Type.Boolean({ description: 'Whether a condition is being evaluated.' }),
  watched_since: Instant('When the flag was last switched on; what was measured before does not count.'),
  conditions: Type.Array(
    Type.Object({
      index: Type.Integer(),
      status: Type.String({ description: '`watching`, `holds` or `inactive`.' }),
      reason: Type.String(),
      value: Nullable(Type.Number({ description: 'Current value; null without data.' })),
      samples: Type.Integer(),
      threshold: Nullable(Type.Number()),
    }),
  ),
})
export type RollbackReport = Static<typeof RollbackReport>

const tag = 'Rollback'
const flag = '/api/projects/:project_id/feature_flags/:id' as const

export const rollbackRoutes = {
  push: route({
    method: 'POST',
    path: `${flag}/metrics`,
    tag,
    summary: 'Push samples of a metric that a rollback condition uses',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: Type.Object({
      samples: Type.Array(Sample, { maxItems: metricSamplesMax, description: `At most ${metricSamplesMax}.` }),
    }),
    answers: {
      200: Type.Object({
        accepted: Type.Integer(),
        ignored: Type.Integer({ description: 'Measured before the flag was last switched on, or too long ago.' }),
      }),
    },
  }),
  report: route({
    method: 'GET',
    path: `${flag}/rollback`,
    tag,
    summary: 'Get the rollback conditions of the flag with their current values',
    access: inProject('feature_flag:read'),
    params: FlagParams,
    answers: { 200: RollbackReport },
  }),
}
