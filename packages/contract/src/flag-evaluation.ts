import Type, { type Static } from 'typebox'
import { Flag } from './flags.ts'
import { inProject, route } from './route.ts'
import { FreeObject, Nullable, ProjectParams } from './schema.ts'

const FlagValue = Type.Union([Type.Boolean(), Type.String()])

export const EvaluationReason = Type.Object({
  value: FlagValue,
  evaluation: Type.Object({
    reason: Type.String(),
    condition_index: Nullable(Type.Integer()),
    description: Type.String(),
  }),
  trace: Type.Optional(FreeObject('Why, and why not: every condition and filter with what it saw.')),
})
export type EvaluationReason = Static<typeof EvaluationReason>

const tag = 'Evaluation'
const flags = '/api/projects/:project_id/feature_flags' as const
const groups = Type.Optional(
  Type.String({ description: 'JSON object, group type → group key: `{"company": "acme"}`.' }),
)
const is_incomplete = Type.Boolean({ description: 'Whether stored data was unavailable.' })

export const flagEvaluationRoutes = {
  reasons: route({
    method: 'GET',
    path: `${flags}/evaluation_reasons`,
    tag,
    summary: 'Evaluate all flags for a distinct id, with reasons',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      distinct_id: Type.Optional(Type.String({ description: 'The distinct id to evaluate; the caller by default.' })),
      groups,
      flag_keys: Type.Optional(Type.String({ description: 'JSON array of flag keys; all flags by default.' })),
      explain: Type.Optional(Type.String({ description: '`true` adds the full trace of each flag.' })),
    }),
    answers: {
      200: Type.Object({
        ...Flag.properties,
        reasons: Type.Record(Type.String(), EvaluationReason),
        is_incomplete,
      }),
    },
  }),
  mine: route({
    method: 'GET',
    path: `${flags}/my_flags`,
    tag,
    summary: 'Evaluate all flags for the caller',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({ groups }),
    answers: {
      200: Type.Object({
        ...Flag.properties,
        results: Type.Array(Type.Object({ feature_flag: Flag, value: FlagValue })),
        is_incomplete,
      }),
    },
  }),
}
