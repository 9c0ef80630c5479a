import { createHash } from 'node:crypto'
import {
  type Compilable,
  type CompiledQuery,
  type DialectAdapter,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
} from 'kysely'
import type { Tables } from './tables.generated.ts'

/** Runs a statement with its parameters, in the transaction or on the database that it is given. */
export type PreparedQuery<Parameters, Row> = (db: Kysely<Tables>, parameters: Parameters) => Promise<QueryResult<Row>>

/** A compiled statement. */
export interface PreparedCompiledQuery<Row = unknown> extends CompiledQuery<Row> {
  /** The name of the prepared statement on PostgreSQL. The same SQL always has the same name. */
  readonly name?: string
  /** Not awaited: its failure surfaces with a later statement or with the commit. */
  readonly isPipelined?: true
}

/**
 * A statement that is built once and run many times. Building and compiling a query costs several times as much as SQLite takes to run it,
 * so statements of the write path are compiled once for each kind of database.
 *
 * `build` is called once, with a placeholder for each parameter: it can be passed to the query, but must not be inspected. All runs have
 * parameters of the same names.
 */
export function preparedQuery<Parameters extends object, Row>(
  build: (db: Kysely<Tables>, parameters: Parameters) => Compilable<Row>,
  traits: Pick<PreparedCompiledQuery, 'isPipelined'> = {},
): PreparedQuery<Parameters, Row> {
  // Every transaction on a database has its adapter; the text depends on nothing else.
  const compiledQueries = new WeakMap<DialectAdapter, PreparedCompiledQuery<Row>>()

  function compile(db: Kysely<Tables>, parameters: Parameters): PreparedCompiledQuery<Row> {
    const names = Object.keys(parameters)
    const placeholders = Object.fromEntries(names.map(name => [name, new Parameter(name)]))
    const compiled = build(db, placeholders as Parameters).compile()
    const query = { ...compiled, ...traits, name: createHash('sha1').update(compiled.sql).digest('base64url') }
    compiledQueries.set(db.getExecutor().adapter, query)
    return query
  }

  return (db, parameters) => {
    const query = compiledQueries.get(db.getExecutor().adapter) ?? compile(db, parameters)
    const values = query.parameters.map(value => (value instanceof Parameter ? value.in(parameters) : value))
    return run(db, { ...query, parameters: values })
  }
}

/** As Kysely runs it, without its plugins, of which there are none, and the promises in between. */
const run = <Row>(db: Kysely<Tables>, query: CompiledQuery<Row>): Promise<QueryResult<Row>> =>
  db.getExecutor().provideConnection(connection => connection.executeQuery<Row>(query))

/**
 * The same for a write whose result is not needed. Within a transaction on PostgreSQL it is not awaited: it is sent with the next
 * statement, and when it fails, that one does, or the commit.
 */
export function pipelinedWrite<Parameters extends object>(
  build: (db: Kysely<Tables>, parameters: Parameters) => Compilable<unknown>,
): (db: Kysely<Tables>, parameters: Parameters) => Promise<void> {
  const write = preparedQuery(build, { isPipelined: true })
  return async (db, parameters) => {
    await write(db, parameters)
  }
}

export const isSqlite = (db: Kysely<Tables>): boolean => db.getExecutor().adapter instanceof SqliteAdapter

/** An insert, as far as it matters here. */
interface Insert extends Compilable<unknown> {
  returning(column: 'id'): Compilable<{ id: number }>
}

/** A prepared insert into a table with generated ids; returns the new id. SQLite reports it anyway, and `returning` costs it as much as the insert. */
export function preparedInsert<Row extends object>(
  build: (db: Kysely<Tables>, row: Row) => Insert,
): (db: Kysely<Tables>, row: Row) => Promise<number> {
  const insert = preparedQuery<Row, unknown>(build)
  const insertReturning = preparedQuery((db, row: Row) => build(db, row).returning('id'))
  return async (db, row) => {
    if (isSqlite(db)) return Number((await insert(db, row)).insertId)
    return (await insertReturning(db, row)).rows[0]!.id
  }
}

/** Longer lists are rare, and a statement for each length would only take memory. */
const preparedListMax = 256

/**
 * The same for a list of ids, with other parameters. It is prepared for lists of 1, 2, 4, 8 … ids; a list in between repeats its last id,
 * which finds nothing more.
 */
export function preparedListQuery<Row, Id extends number | string = number, Parameters extends object = object>(
  build: (db: Kysely<Tables>, ids: readonly Id[], parameters: Parameters) => Compilable<Row>,
): (db: Kysely<Tables>, ids: readonly Id[], parameters?: Parameters) => Promise<readonly Row[]> {
  interface Named {
    readonly [name: string]: unknown
  }
  const statements = new Map<number, PreparedQuery<Named, Row>>()

  function statementFor(length: number): PreparedQuery<Named, Row> {
    const prepared = statements.get(length)
    if (prepared) return prepared
    const statement = preparedQuery((db, named: Named) => {
      const ids = Array.from({ length }, (_, at) => named[`id${at}`] as Id)
      return build(db, ids, named as Parameters)
    })
    statements.set(length, statement)
    return statement
  }

  return async (db, ids, parameters = {} as Parameters) => {
    if (ids.length === 0) return []
    if (ids.length > preparedListMax) return (await db.executeQuery(build(db, ids, parameters).compile())).rows
    const length = 2 ** Math.ceil(Math.log2(ids.length))
    const named = { ...parameters } as Record<string, unknown>
    for (let at = 0; at < length; at++) named[`id${at}`] = ids[Math.min(at, ids.length - 1)]!
    return (await statementFor(length)(db, named)).rows
  }
}

/** Placeholder of a value that is not known yet. */
class Parameter {
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  in(parameters: object): unknown {
    return (parameters as Record<string, unknown>)[this.#name]
  }
}
