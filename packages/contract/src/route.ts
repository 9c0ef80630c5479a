import type { Static, TObject, TSchema } from 'typebox'
import { adminLevel, type Level, memberLevel, viewOnlyLevel } from './levels.ts'
import type { Scope } from './scopes.ts'

/**
 * Authorization of a route. Every route must declare it, and the server enforces it before the handler runs. `within` names the object
 * that the path is scoped to: the handler receives that project or organization, already checked against the caller's memberships and
 * the key's restrictions.
 */
export type Access =
  | { readonly kind: 'open' }
  /** A SCIM token of the organization in the path, and nothing else. */
  | { readonly kind: 'scim' }
  | {
      readonly kind: 'key'
      readonly within: 'project' | 'organization' | 'user'
      /** Any one of these suffices. */
      readonly scopes: readonly Scope[]
      /** The lowest membership level, where it is not what `levelFor` derives from the scopes. */
      readonly level?: Level
      /** Whether auditors can call it as well, whatever the lowest level. */
      readonly isForAuditors?: true
    }

export const open = { kind: 'open' } as const
export const withScimToken = { kind: 'scim' } as const
export const inProject = <const S extends readonly Scope[]>(...scopes: S) =>
  ({ kind: 'key', within: 'project', scopes }) as const
export const inOrganization = <const S extends readonly Scope[]>(...scopes: S) =>
  ({ kind: 'key', within: 'organization', scopes }) as const
export const asUser = <const S extends readonly Scope[]>(...scopes: S) =>
  ({ kind: 'key', within: 'user', scopes }) as const

/** The lowest level that can call a route of a project or organization: view-only members read, members write. */
export function levelFor({ scopes, level }: Extract<Access, { kind: 'key' }>): Level {
  const isRead = scopes.every(scope => scope.endsWith(':read'))
  return level ?? (isRead ? viewOnlyLevel : memberLevel)
}

/** A write that is the caller's own and that no one else sees, such as a favorite. */
export const forViewers = <const A extends Access>(access: A) => ({ ...access, level: viewOnlyLevel }) as const

/** For admins, owners and auditors. */
export const forAuditors = <const A extends Access>(access: A) =>
  ({ ...access, level: adminLevel, isForAuditors: true }) as const

/** Credentials as OpenAPI names them. */
export type Credential = 'personalApiKey' | 'session' | 'projectToken' | 'projectSecretKey' | 'scimToken'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Route {
  readonly method: Method
  /** Parameters have the form `:name`; a trailing slash is always optional. */
  readonly path: `/${string}`
  readonly tag: string
  /** Unique; generated clients name their functions after it. */
  readonly operationId: string
  /** One line. */
  readonly summary: string
  /** What the summary leaves out: conditions, side effects, limits. */
  readonly description: string
  readonly access: Access
  /** Credentials of a route with its own authentication. Any one of these suffices. */
  readonly credentials?: readonly Credential[]
  /** Whether a user can call it who still has to set up the second factor that their organization requires. */
  readonly isForSetUp?: true
  readonly params?: TObject
  /** Handlers receive query parameters as strings and parse them leniently: an invalid `limit` means the default. */
  readonly query?: TObject
  readonly body?: TSchema
  /** Whether an empty request body is accepted, as for POST actions of the contract. */
  readonly bodyOptional?: true
  /** Whether pages of every origin can call it. The key is in a header, so that no page calls it by accident. */
  readonly isForBrowsers?: true
  /** Whether concurrent changes can make it return 409. */
  readonly mayConflict?: true
  /** Whether the response has an `ETag`. */
  readonly hasEtag?: true
  /** Whether it reads signed overrides from `X-Halyard-Overrides` and responds with what became of them. */
  readonly takesOverrides?: true
  /** Headers that the successful response has, beside those of every response. */
  readonly headers?: readonly 'X-Halyard-Project-Token'[]
  /** Whether the successful response can also have no body. */
  readonly mayBeEmpty?: true
  /**
   * Whether a successful request leaves an entry in the audit log. By default all but GET do. The exceptions: what changes nothing, what
   * receives data of applications, and reads of the log itself.
   */
  readonly isAudited?: boolean
  /** Status → schema of the body, or null for an empty body. */
  readonly responses: Readonly<Record<number, TSchema | null>>
  /** Content type of the successful response, if it is not JSON. */
  readonly mediaType?:
    | 'text/event-stream'
    | 'application/javascript'
    | 'text/javascript'
    | 'application/x-ndjson'
    | 'application/scim+json'
  /** How errors are serialized, if not as a `Problem`. */
  readonly errorShape?: 'manifest' | 'oauth' | 'scim'
  /** Schema of error bodies, if it is not `Problem`. Errors before routing are always a `Problem`. */
  readonly refusal?: TSchema
}

/** Whether a successful request leaves an entry in the audit log. */
export const isAudited = ({ method, isAudited = method !== 'GET' }: Pick<Route, 'method' | 'isAudited'>): boolean =>
  isAudited

type Definition = Omit<Route, 'tag' | 'method' | 'path'>

const withMethod =
  <const M extends Method, const S extends Partial<Route>>(method: M, shared: S) =>
  <const P extends Route['path'], const D extends Omit<Definition, keyof S> & Partial<Definition>>(
    path: P,
    definition: D,
  ) =>
    ({ ...shared, method, path, ...definition }) as Omit<S, keyof D> & D & { readonly method: M; readonly path: P }

/**
 * Defines the routes of a tag, under which the API reference lists them. What they have in common, such as the parameters of their path,
 * is given once; a route can define it differently.
 */
export function routesOf<const S extends Partial<Definition> = NoFields>(tag: string, common?: S) {
  const shared = { tag, ...(common as S) }
  return {
    get: withMethod('GET', shared),
    post: withMethod('POST', shared),
    put: withMethod('PUT', shared),
    patch: withMethod('PATCH', shared),
    delete: withMethod('DELETE', shared),
  }
}

type StaticOr<S, Otherwise> = S extends TSchema ? Static<S> : Otherwise
type NoFields = Record<never, never>

export type ParamsOf<R extends Route> = StaticOr<R['params'], NoFields>
export type QueryOf<R extends Route> = Partial<Record<QueryNames<R>, string>>
type QueryNames<R extends Route> = R['query'] extends TObject ? keyof R['query']['properties'] & string : never
export type BodyOf<R extends Route> = StaticOr<R['body'], undefined>
/** The body of the successful response. */
export type AnswerOf<R extends Route> = {
  [S in keyof R['responses']]: S extends 200 | 201 | 202 ? StaticOr<R['responses'][S], undefined> : undefined
}[keyof R['responses']]
