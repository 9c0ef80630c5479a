import type { Compilable, CompiledQuery, DialectAdapter, Kysely, QueryResult } from 'kysely'
import type { Tables } from './tables.ts'

/** Runs a statement with its parameters, in the transaction or on the database that it is given. */
export type KeptStatement<Parameters, Row> = (db: Kysely<Tables>, parameters: Parameters) => Promise<QueryResult<Row>>

/**
 * A statement that is said once and run many times. Building a query and turning it into text costs several times as much as SQLite
 * takes to run it, so what is run at every write is kept as text, one for each kind of database.
 *
 * `say` is called once, with something that stands for each parameter: it can be handed on to the query, and nothing can be learnt from
 * it. All runs have parameters of the same names.
 */
export function keptStatement<Parameters extends object, Row>(
  say: (db: Kysely<Tables>, parameters: Parameters) => Compilable<Row>,
): KeptStatement<Parameters, Row> {
  // Every transaction on a database has its adapter; the text depends on nothing else.
  const kept = new WeakMap<DialectAdapter, CompiledQuery<Row>>()

  function keep(db: Kysely<Tables>, parameters: Parameters): CompiledQuery<Row> {
    const names = Object.keys(parameters)
    const standIns = Object.fromEntries(names.map(name => [name, new Parameter(name)]))
    const query = say(db, standIns as Parameters).compile()
    kept.set(db.getExecutor().adapter, query)
    return query
  }

  return (db, parameters) => {
    const query = kept.get(db.getExecutor().adapter) ?? keep(db, parameters)
    const values = query.parameters.map(value => (value instanceof Parameter ? value.in(parameters) : value))
    return db.executeQuery({ ...query, parameters: values })
  }
}

/** Stands for a value that is not known yet. */
class Parameter {
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  in(parameters: object): unknown {
    return (parameters as Record<string, unknown>)[this.#name]
  }
}
