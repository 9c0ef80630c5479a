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
  Type.String({ description: 'JSON object: the key of the group by the name of its type, `{"company": "acme"}`.' }),
)
const is_incomplete = Type.Boolean({ description: 'Something that is stored could not be looked up.' })

export const flagEvaluationRoutes = {
  reasons: route({
    method: 'GET',
    path: `${flags}/evaluation_reasons`,
    tag,
    summary: 'What every flag answers for somebody, and why',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      distinct_id: Type.Optional(Type.String({ description: 'For whom; the caller when absent.' })),
      groups,
      flag_keys: Type.Optional(Type.String({ description: 'JSON list of keys; all flags when absent.' })),
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
    summary: 'What every flag answers for the caller',
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
