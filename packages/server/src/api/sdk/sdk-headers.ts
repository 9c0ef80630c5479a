import type { DefinitionsBody } from './definitions.ts'

/** Names the public token of the project, which a client with a secret key needs to send events. */
export const projectTokenHeader = 'x-halyard-project-token'

/** Headers of definitions, on top of those that every response carries. */
export const definitionsHeaders = ({ etag, projectToken }: DefinitionsBody): Readonly<Record<string, string>> => ({
  etag,
  [projectTokenHeader]: projectToken,
  'cache-control': 'private, must-revalidate',
  'access-control-expose-headers': 'ETag',
})
