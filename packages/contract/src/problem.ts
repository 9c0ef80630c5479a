import Type, { type Static } from 'typebox'
import { NamedObject, Nullable, Text } from './schema.ts'

/** The body of every error. */
export const ProblemBody = NamedObject('Error', 'The body of every error.', {
  type: Type.String({
    description: 'Kind of error.',
    enum: ['validation_error', 'invalid_request', 'authentication_error', 'throttled_error', 'server_error'],
  }),
  code: Text('Stable code for programs.', 'invalid_input'),
  detail: Text('Message for people.', '`key` is required.'),
  attr: Nullable(Text('The invalid field; nested names are joined by `__`.', 'key')),
})
export type ProblemBody = Static<typeof ProblemBody>
