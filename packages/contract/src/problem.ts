import Type, { type Static } from 'typebox'
import { Nullable } from './schema.ts'

/** The body of every error. */
export const ProblemBody = Type.Object(
  {
    type: Type.String({
      description: 'Kind of error.',
      enum: ['validation_error', 'invalid_request', 'authentication_error', 'throttled_error', 'server_error'],
    }),
    code: Type.String({ description: 'Stable code for programs.', examples: ['invalid_input'] }),
    detail: Type.String({ description: 'Message for people.', examples: ['`key` is required.'] }),
    attr: Nullable(
      Type.String({ description: 'The invalid field; nested names are joined by `__`.', examples: ['key'] }),
    ),
  },
  { title: 'Error', description: 'The body of every error.' },
)
export type ProblemBody = Static<typeof ProblemBody>
