import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import { Bool, FreeObject, Integer, List, NamedObject, Nullable, ObjectOf, ProjectParams, Text } from '../schema.ts'
import { Flag } from './flags.ts'

const FlagValue = Type.Union([Type.Boolean(), Type.String()], {
  description: 'Whether the flag is on, or the key of its variant.',
  examples: [true],
})

export const EvaluationReason = NamedObject('EvaluationReason', 'The value of a flag with the reason for it.', {
  value: FlagValue,
  evaluation: ObjectOf('What decided.', {
    reason: Text('Code of the reason.', 'condition_match'),
    condition_index: Nullable(Integer('Index of the condition that decided.', 0)),
    description: Text('The reason in words.', 'Matched condition set 1'),
  }),
  trace: Type.Optional(FreeObject('Why, and why not: every condition and filter with what it saw.')),
})
export type EvaluationReason = Static<typeof EvaluationReason>

const flags = '/api/projects/:project_id/feature_flags' as const
const groups = Type.Optional(Text('JSON object, group type → group key: `{"company": "acme"}`.'))
const is_incomplete = Bool('Whether stored data was unavailable.', false)

const route = routesOf('Evaluation', { params: ProjectParams })

export const flagEvaluationRoutes = {
  reasons: route.get(`${flags}/evaluation_reasons`, {
    operationId: 'getEvaluationReasons',
    summary: 'Evaluate all flags for a distinct id, with reasons',
    description:
      'Uses the stored properties of the person. The fields of a flag are blank; the result is in `reasons`.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      distinct_id: Type.Optional(Text('The distinct id to evaluate; the caller by default.')),
      groups,
      flag_keys: Type.Optional(Text('JSON array of flag keys; all flags by default.')),
      explain: Type.Optional(Bool('`true` adds the full trace of each flag.')),
    }),
    responses: {
      200: Type.Object({
        ...Flag.properties,
        reasons: Type.Record(Type.String(), EvaluationReason, { description: 'Flag key → value and reason.' }),
        is_incomplete,
      }),
    },
  }),
  mine: route.get(`${flags}/my_flags`, {
    operationId: 'listMyFeatureFlags',
    summary: 'Evaluate all flags for the caller',
    description:
      'Evaluates with the distinct id of the calling user. The fields of a flag are blank; the result is in `results`.',
    access: inProject('feature_flag:read'),
    query: Type.Object({ groups }),
    responses: {
      200: Type.Object({
        ...Flag.properties,
        results: List(Type.Object({ feature_flag: Flag, value: FlagValue }), 'Value of each flag.'),
        is_incomplete,
      }),
    },
  }),
}
