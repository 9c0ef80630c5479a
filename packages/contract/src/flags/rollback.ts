import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  Instant,
  InstantInput,
  Integer,
  List,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  Numeric,
  Text,
} from '../schema.ts'
import { FlagParams } from './flags.ts'

/** Maximum number of samples per request. */
export const metricSamplesMax = 1000

const Sample = NamedObject('MetricSample', 'A measured value.', {
  name: NonEmptyTextInput(200, 'Name of the metric.', 'error_rate'),
  value: Numeric('The measured value.', 0.02),
  at: Type.Optional(InstantInput('When the value was measured; now by default.')),
})
export type MetricSample = Static<typeof Sample>

export const RollbackReport = NamedObject('RollbackReport', 'Rollback conditions with their current values.', {
  performed_rollback: Bool('Whether a condition has switched the flag off.', false),
  is_watched: Bool('Whether a condition is being evaluated.', true),
  watched_since: Instant('When the flag was last switched on; what was measured before does not count.'),
  conditions: List(
    Type.Object({
      index: Integer('Index of the condition.', 0),
      status: Type.String({
        enum: ['watching', 'holds', 'inactive'],
        description: 'State of the condition.',
        examples: ['watching'],
      }),
      reason: Text('Why the condition has this status.', '0.02 is not greater than 0.05.'),
      value: Nullable(Numeric('Current value; null without data.', 0.02)),
      samples: Integer('Number of samples in the window.', 12),
      threshold: Nullable(Numeric('Value that the metric is compared with.', 0.05)),
    }),
    'The conditions of the flag.',
  ),
})
export type RollbackReport = Static<typeof RollbackReport>

const flag = '/api/projects/:project_id/feature_flags/:id' as const

const route = routesOf('Rollback', { params: FlagParams })

export const rollbackRoutes = {
  push: route.post(`${flag}/metrics`, {
    operationId: 'pushFeatureFlagMetrics',
    isAudited: false,
    summary: 'Push samples of a metric that a rollback condition uses',
    description:
      'For metrics that are measured outside Halyard. Samples older than the last activation of the flag are ignored.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      samples: Type.Array(Sample, {
        maxItems: metricSamplesMax,
        description: `At most ${metricSamplesMax}.`,
        examples: [[{ name: 'error_rate', value: 0.02 }]],
      }),
    }),
    responses: {
      200: Type.Object({
        accepted: Integer('Number of stored samples.', 1),
        ignored: Integer('Measured before the flag was last switched on, or too long ago.', 0),
      }),
    },
  }),
  report: route.get(`${flag}/rollback`, {
    operationId: 'getFeatureFlagRollback',
    summary: 'Get the rollback conditions of the flag with their current values',
    description: 'Shows whether a condition of `rollback_conditions` is close to switching the flag off.',
    access: inProject('feature_flag:read'),
    responses: { 200: RollbackReport },
  }),
}
