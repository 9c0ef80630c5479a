import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  FreeObjectInput,
  Integer,
  kibibyte,
  List,
  mebibyte,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  ObjectOf,
  ProjectParams,
  Text,
} from '../schema.ts'

export const playgroundPeopleMax = 200
export const playgroundFlagsMax = 200

const FlagValue = Type.Union([Type.Boolean(), Type.String()], {
  description: 'Whether the flag is on, or the key of its variant.',
  examples: [true],
})
const PlaygroundValue = NamedObject('PlaygroundValue', 'The value of a flag for one person.', {
  value: FlagValue,
  payload: Nullable(Text('Payload as JSON text.', null)),
  reason: Text('Code of the reason.', 'condition_match'),
  condition_index: Nullable(Integer('Index of the condition that decided.', 0)),
})
export type PlaygroundValue = Static<typeof PlaygroundValue>

const PlaygroundRow = NamedObject('PlaygroundRow', 'The values of all chosen flags for one person.', {
  distinct_id: Text('The distinct id as sent.', 'user-1'),
  values: Type.Record(Type.String(), PlaygroundValue, { description: 'Flag key → value.' }),
  draft: Nullable(PlaygroundValue),
  is_incomplete: Bool('Whether stored data was unavailable.', false),
})
export type PlaygroundRow = Static<typeof PlaygroundRow>

const properties = (description: string) => Type.Optional(FreeObjectInput(64 * kibibyte, description))

const route = routesOf('Evaluation')

export const playgroundRoutes = {
  evaluate: route.post('/api/projects/:project_id/playground', {
    operationId: 'evaluatePlayground',
    isAudited: false,
    summary: 'Evaluate many flags for many people, with what-if properties and a draft',
    description:
      'Nothing is stored. Properties that are sent take precedence over stored ones. At most 200 people and 200 flags.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    body: Type.Object({
      people: Type.Array(
        Type.Object({
          distinct_id: NonEmptyTextInput(400, 'Distinct id.', 'user-1'),
          person_properties: properties('Properties of the person, instead of the stored ones.'),
          groups: properties('Group type → group key.'),
          group_properties: properties('Group type → properties of the group.'),
        }),
        { minItems: 1, maxItems: playgroundPeopleMax, description: 'Who to evaluate for.' },
      ),
      person_properties: properties('Properties of every person, before their own.'),
      flag_keys: Type.Optional(
        Type.Array(Type.String({ maxLength: 400 }), {
          maxItems: playgroundFlagsMax,
          description: 'Only these flags; by default the first 200 by key.',
        }),
      ),
      draft: Type.Optional(
        ObjectOf('Unsaved filters of a flag, evaluated as if the flag were on.', {
          flag_id: Integer('Id of the flag to compare with.', 12),
          filters: FreeObjectInput(4 * mebibyte, 'The filters of the draft.', { groups: [] }),
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        flags: List(Type.String(), 'Keys of the flags, in order.', ['new-checkout']),
        results: List(PlaygroundRow, 'One entry per person, in order.'),
      }),
    },
  }),
}
