import type { FastifyRequest } from 'fastify'

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
