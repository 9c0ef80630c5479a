import { settings } from '../../packages/server/src/config.ts'

/**
 * Names that deployment files and workflows use and that the settings table, the commands or package.json may not have
 * yet. An entry can go as soon as its name is in the table; entries that only deployments need stay.
 */
export const announced = {
  settings: [
    'DATABASE_URL_FILE',
    'HALYARD_BOOTSTRAP_KEY_FILE',
    'HALYARD_OWNER_EMAIL',
    'HALYARD_OWNER_PASSWORD',
    'HALYARD_OWNER_PASSWORD_FILE',
    'HALYARD_SECRET_KEY_FILE',
    'LOG_FORMAT',
    'PGDATABASE',
    'PGHOST',
    'PGPASSWORD',
    'PGPASSWORD_FILE',
    'PGPORT',
    'PGUSER',
  ],
  commands: ['health'],
  scripts: ['package', 'test:quick'],
}

/** Variables of Node, PostgreSQL and Caddy, and those that compose files fill in for them. */
const foreign = /^(NODE_ENV|POSTGRES_(USER|DB|PASSWORD_FILE)|HALYARD_DOMAIN)$/

const known = new Set<string>([...Object.values(settings).map(({ variable }) => variable), ...announced.settings])

export const unknownVariables = (names: Iterable<string>): string[] =>
  [...new Set(names)].filter(name => !known.has(name) && !foreign.test(name))

export const knownCommands = new Set(['serve', 'edge', ...announced.commands])
