import type { Static, TObject, TSchema } from 'typebox'

/** The objects of scopes. `X:write` implies `X:read`; `*` is everything. */
export const scopeObjects = [
  'activity_log',
  'cohort',
  'dashboard',
  'edge',
  'feature_flag',
  'group',
  'organization',
  'organization_member',
  'person',
  'plugin',
  'project',
  'user',
] as const
export type ScopeObject = (typeof scopeObjects)[number]
export type Scope = `${ScopeObject}:${'read' | 'write'}`

/**
 * Who can call a route. Every route declares it, and the server enforces it before the
 * handler runs. `within` names what the path is scoped to: the handler is then given that project or organization, already
 * checked against the caller's memberships and the key's restrictions.
 */
export type Access =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'key'
      readonly within: 'project' | 'organization' | 'user'
      /** Any one of these is enough. */
      readonly scopes: readonly Scope[]
    }

export const open = { kind: 'open' } as const
export const inProject = <const S extends readonly Scope[]>(...scopes: S) =>
  ({ kind: 'key', within: 'project', scopes }) as const
export const inOrganization = <const S extends readonly Scope[]>(...scopes: S) =>
  ({ kind: 'key', within: 'organization', scopes }) as const
export const asUser = <const S extends readonly Scope[]>(...scopes: S) =>
  ({ kind: 'key', within: 'user', scopes }) as const

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Route {
  readonly method: Method
  /** Parameters are written `:name`; a trailing slash is always optional. */
  readonly path: `/${string}`
  readonly tag: string
  readonly summary: string
  readonly access: Access
  readonly params?: TObject
  /** Query parameters reach the handler as text: lenient reading (a bad `limit` is the default) is the house rule. */
  readonly query?: TObject
  readonly body?: TSchema
  /** POST actions of the contract accept an empty request as well. */
  readonly bodyOptional?: true
  /** Status → schema of the body, or null for an empty body. */
  readonly answers: Readonly<Record<number, TSchema | null>>
  /** What the successful answer is written in, where it is not JSON. */
  readonly mediaType?: 'text/event-stream' | 'application/javascript'
  /** The body of refusals in other words than a Problem's, which is left to what is refused before the route is reached. */
  readonly refusal?: TSchema
}

export const route = <const R extends Route>(definition: R): R => definition

type StaticOr<S, Otherwise> = S extends TSchema ? Static<S> : Otherwise
type NoFields = Record<never, never>

export type ParamsOf<R extends Route> = StaticOr<R['params'], NoFields>
export type QueryOf<R extends Route> = Partial<Record<QueryNames<R>, string>>
type QueryNames<R extends Route> = R['query'] extends TObject ? keyof R['query']['properties'] & string : never
export type BodyOf<R extends Route> = StaticOr<R['body'], undefined>
/** The body of the successful answer. */
export type AnswerOf<R extends Route> = {
  [S in keyof R['answers']]: S extends 200 | 201 | 202 ? StaticOr<R['answers'][S], undefined> : undefined
}[keyof R['answers']]
