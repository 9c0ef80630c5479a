import type { FastifyRequest } from 'fastify'
import { invalid } from '../../problem.ts'

export type Query = Readonly<Record<string, string | undefined>>

/** The parameters of an address. Of one that is given several times the last counts, so that a handler never sees a list. */
export function queryOf({ query }: Pick<FastifyRequest, 'query'>): Query {
  const plain: Record<string, string> = {}
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    const last = Array.isArray(value) ? value.at(-1) : value
    if (last !== undefined) plain[name] = last
  }
  return plain
}

/** The same for routes whose parameters reach the database: PostgreSQL stores no NUL, so none can be searched for. */
export function storableQueryOf(request: Pick<FastifyRequest, 'query'>): Query {
  const query = queryOf(request)
  for (const [name, value] of Object.entries(query)) {
    if (value?.includes('\0')) throw invalid(name, 'invalid_input', `\`${name}\` must not contain a NUL character.`)
  }
  return query
}
