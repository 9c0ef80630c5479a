import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import { Instant, InstantInput, Nullable } from '../schema.ts'
import { FlagParams } from './flags.ts'

/** Maximum number of samples per request. */
export const metricSamplesMax = 1000

const Sample = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the metric.', examples: ['error_rate'] }),
    value: Type.Number({ description: 'The measured value.', examples: [0.02] }),
    at: Type.Optional(InstantInput('When the value was measured; now by default.')),
  },
  { title: 'MetricSample', description: 'A measured value.' },
)
export type MetricSample = Static<typeof Sample>

export const RollbackReport = Type.Object(
  {
    performed_rollback: Type.Boolean({
      description: 'Whether a condition has switched the flag off.',
      examples: [false],
    }),
    is_watched: Type.Boolean({ description: 'Whether a condition is being evaluated.', examples: [true] }),
    watched_since: Instant('When the flag was last switched on; what was measured before does not count.'),
    conditions: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Index of the condition.', examples: [0] }),
        status: Type.String({
          enum: ['watching', 'holds', 'inactive'],
          description: 'State of the condition.',
          examples: ['watching'],
        }),
        reason: Type.String({
          description: 'Why the condition has this status.',
          examples: ['0.02 is not greater than 0.05.'],
        }),
        value: Nullable(Type.Number({ description: 'Current value; null without data.', examples: [0.02] })),
        samples: Type.Integer({ description: 'Number of samples in the window.', examples: [12] }),
        threshold: Nullable(Type.Number({ description: 'Value that the metric is compared with.', examples: [0.05] })),
      }),
      { description: 'The conditions of the flag.' },
    ),
  },
  { title: 'RollbackReport', description: 'Rollback conditions with their current values.' },
)
export type RollbackReport = Static<typeof RollbackReport>

const route = routesOf('Rollback')
const flag = '/api/projects/:project_id/feature_flags/:id' as const

export const rollbackRoutes = {
  push: route({
    method: 'POST',
    path: `${flag}/metrics`,
    operationId: 'pushFeatureFlagMetrics',
    isAudited: false,
    summary: 'Push samples of a metric that a rollback condition uses',
    description:
      'For metrics that are measured outside Halyard. Samples older than the last activation of the flag are ignored.',
    access: inProject('feature_flag:write'),
    params: FlagParams,
    body: Type.Object({
      samples: Type.Array(Sample, {
        maxItems: metricSamplesMax,
        description: `At most ${metricSamplesMax}.`,
        examples: [[{ name: 'error_rate', value: 0.02 }]],
      }),
    }),
    responses: {
      200: Type.Object({
        accepted: Type.Integer({ description: 'Number of stored samples.', examples: [1] }),
        ignored: Type.Integer({
          description: 'Measured before the flag was last switched on, or too long ago.',
          examples: [0],
        }),
      }),
    },
  }),
  report: route({
    method: 'GET',
    path: `${flag}/rollback`,
    operationId: 'getFeatureFlagRollback',
    summary: 'Get the rollback conditions of the flag with their current values',
    description: 'Shows whether a condition of `rollback_conditions` is close to switching the flag off.',
    access: inProject('feature_flag:read'),
    params: FlagParams,
    responses: { 200: RollbackReport },
  }),
}
