import { createHash } from 'node:crypto'
import {
  type Compilable,
  type CompiledQuery,
  type DialectAdapter,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
} from 'kysely'
import type { Tables } from './tables.ts'

/** Runs a statement with its parameters, in the transaction or on the database that it is given. */
export type PreparedQuery<Parameters, Row> = (db: Kysely<Tables>, parameters: Parameters) => Promise<QueryResult<Row>>

/** What is kept of a statement. */
export interface PreparedCompiledQuery<Row = unknown> extends CompiledQuery<Row> {
  /** Under this name PostgreSQL keeps how it runs the statement. The same words always have the same name. */
  readonly name?: string
  /** Nothing is to be learnt from it but its failure, which may come to light with a later statement or with the commit. */
  readonly isPipelined?: true
}

/**
 * A statement that is said once and run many times. Building a query and turning it into text costs several times as much as SQLite
 * takes to run it, so what is run at every write is kept as text, one for each kind of database.
 *
 * `say` is called once, with something that stands for each parameter: it can be handed on to the query, and nothing can be learnt from
 * it. All runs have parameters of the same names.
 */
export function preparedQuery<Parameters extends object, Row>(
  say: (db: Kysely<Tables>, parameters: Parameters) => Compilable<Row>,
  traits: Pick<PreparedCompiledQuery, 'isPipelined'> = {},
): PreparedQuery<Parameters, Row> {
  // Every transaction on a database has its adapter; the text depends on nothing else.
  const kept = new WeakMap<DialectAdapter, PreparedCompiledQuery<Row>>()

  function keep(db: Kysely<Tables>, parameters: Parameters): PreparedCompiledQuery<Row> {
    const names = Object.keys(parameters)
    const standIns = Object.fromEntries(names.map(name => [name, new Parameter(name)]))
    const compiled = say(db, standIns as Parameters).compile()
    const query = { ...compiled, ...traits, name: createHash('sha1').update(compiled.sql).digest('base64url') }
    kept.set(db.getExecutor().adapter, query)
    return query
  }

  return (db, parameters) => {
    const query = kept.get(db.getExecutor().adapter) ?? keep(db, parameters)
    const values = query.parameters.map(value => (value instanceof Parameter ? value.in(parameters) : value))
    return run(db, { ...query, parameters: values })
  }
}

/** As Kysely runs it, but for its plugins, of which there are none, and the promises in between. */
const run = <Row>(db: Kysely<Tables>, query: CompiledQuery<Row>): Promise<QueryResult<Row>> =>
  db.getExecutor().provideConnection(connection => connection.executeQuery<Row>(query))

/**
 * The same for a write of which nothing is to be learnt. Within a transaction on PostgreSQL nobody waits for it: it travels with the next
 * statement, and when it fails, that one does, or the commit.
 */
export function pipelinedWrite<Parameters extends object>(
  say: (db: Kysely<Tables>, parameters: Parameters) => Compilable<unknown>,
): (db: Kysely<Tables>, parameters: Parameters) => Promise<void> {
  const write = preparedQuery(say, { isPipelined: true })
  return async (db, parameters) => {
    await write(db, parameters)
  }
}

export const isSqlite = (db: Kysely<Tables>): boolean => db.getExecutor().adapter instanceof SqliteAdapter

/** An insert, as far as it matters here. */
interface Insert extends Compilable<unknown> {
  returning(column: 'id'): Compilable<{ id: number }>
}

/**
 * An insert that is said once, into a table that numbers its rows; answers the new row's id. SQLite knows the id of the last row without
 * being asked for it, and to be asked costs it as much as the insert.
 */
export function preparedInsert<Row extends object>(
  say: (db: Kysely<Tables>, row: Row) => Insert,
): (db: Kysely<Tables>, row: Row) => Promise<number> {
  const insert = preparedQuery<Row, unknown>(say)
  const insertReturning = preparedQuery((db, row: Row) => say(db, row).returning('id'))
  return async (db, row) => {
    if (isSqlite(db)) return Number((await insert(db, row)).insertId)
    return (await insertReturning(db, row)).rows[0]!.id
  }
}

/** Longer lists are rare, and a statement for each length would only take room. */
const keptListMax = 256

/**
 * The same for a statement about a list of ids. It is kept for lists of 1, 2, 4, 8 … ids; a list in between repeats its last id, which
 * finds nothing more.
 */
export function preparedListQuery<Row>(
  say: (db: Kysely<Tables>, ids: readonly number[]) => Compilable<Row>,
): (db: Kysely<Tables>, ids: readonly number[]) => Promise<readonly Row[]> {
  const statements = new Map<number, PreparedQuery<Record<string, number>, Row>>()

  function statementFor(length: number): PreparedQuery<Record<string, number>, Row> {
    const known = statements.get(length)
    if (known) return known
    const statement = preparedQuery((db, named: Record<string, number>) => say(db, Object.values(named)))
    statements.set(length, statement)
    return statement
  }

  return async (db, ids) => {
    if (ids.length === 0) return []
    if (ids.length > keptListMax) return (await db.executeQuery(say(db, ids).compile())).rows
    const length = 2 ** Math.ceil(Math.log2(ids.length))
    const named: Record<string, number> = {}
    for (let at = 0; at < length; at++) named[`id${at}`] = ids[Math.min(at, ids.length - 1)]!
    return (await statementFor(length)(db, named)).rows
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
