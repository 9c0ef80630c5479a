import { createProgram } from '../packages/server/src/cli/program.ts'
import { readableVariables } from '../packages/server/src/config.ts'

/** Names that deployment files and workflows may use. */

/** Variables of Node, PostgreSQL, ClickHouse and Caddy, and those that compose files fill in for them. */
const foreign = /^(NODE_ENV|(POSTGRES|CLICKHOUSE)_(USER|DB|PASSWORD_FILE)|HALYARD_DOMAIN)$/

const known = new Set<string>(readableVariables)

export const unknownVariables = (names: Iterable<string>): string[] =>
  [...new Set(names)].filter(name => !known.has(name) && !foreign.test(name))

export const knownCommands = new Set(createProgram().commands.map(command => command.name()))
