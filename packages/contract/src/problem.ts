import Type, { type Static } from 'typebox'
import { Nullable } from './schema.ts'

/** The body of every error. */
export const ProblemBody = Type.Object({
  type: Type.String(),
  code: Type.String(),
  detail: Type.String(),
  attr: Nullable(Type.String({ description: 'The invalid field; nested names are joined by `__`.' })),
})
export type ProblemBody = Static<typeof ProblemBody>
