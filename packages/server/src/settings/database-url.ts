import { userInfo } from 'node:os'

type Environment = Readonly<Record<string, string | undefined>>

const isPostgres = (url: string): boolean => /^postgres(ql)?:\/\//.test(url)

/** Throws an Error whose message continues the sentence "DATABASE_URL …". */
export function databaseUrl(value: string): string {
  if (/^sqlite:.+/.test(value)) return value
  if (!isPostgres(value)) throw new Error('must be sqlite:<path> or postgres://user:password@host/database')
  if (!isReadable(value)) {
    throw new Error(
      'is not a valid URL. Percent-encode special characters in the password (/ is %2F, # is %23, ? is %3F, @ is %40), or leave it out and set PGPASSWORD',
    )
  }
  return value
}

/** An unencoded `/`, `#` or `?` in the password ends the host early, so that the `@` comes too late to end the user. */
const isReadable = (url: string): boolean => URL.canParse(url) && !(url.includes('@') && new URL(url).username === '')

export const libpqVariables = ['PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE', 'PGSSLMODE'] as const

/**
 * The database URL with the variables of libpq taken into account: they are used alone when only PGHOST is set, and fill in what a
 * postgres:// URL leaves out. Undefined when neither is given.
 */
export function databaseUrlFrom(environment: Environment): string | undefined {
  const databaseUrl = environment.DATABASE_URL || undefined
  const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE, PGSSLMODE } = environment
  if (databaseUrl === undefined && !PGHOST) return undefined
  if (databaseUrl !== undefined && (!isPostgres(databaseUrl) || !isReadable(databaseUrl))) return databaseUrl
  const url = new URL(databaseUrl ?? 'postgres://')
  const parameters = url.searchParams
  // Setters of user and port need a host; a socket folder is no host name and goes into the query.
  const isSocket = PGHOST?.startsWith('/') ?? false
  if (url.host === '' && !parameters.has('host')) {
    if (isSocket) parameters.set('host', PGHOST ?? '')
    else return databaseUrlFrom({ ...environment, DATABASE_URL: withHost(url, PGHOST ?? 'localhost') })
  }
  if (url.host === '') {
    // No authority to write into: the driver reads user and password from the query.
    if (PGUSER && !parameters.has('user')) parameters.set('user', PGUSER)
    if (PGPASSWORD && !parameters.has('password')) parameters.set('password', PGPASSWORD)
    if (PGPORT && !parameters.has('port')) parameters.set('port', PGPORT)
  } else {
    if (url.username === '') url.username = encodeURIComponent(PGUSER || userInfo().username)
    if (url.password === '' && PGPASSWORD) url.password = encodeURIComponent(PGPASSWORD)
    if (url.port === '' && PGPORT) url.port = PGPORT
  }
  if (url.pathname === '' || url.pathname === '/') {
    url.pathname = `/${encodeURIComponent(PGDATABASE || PGUSER || decodeURIComponent(url.username) || userInfo().username)}`
  }
  if (PGSSLMODE && !parameters.has('sslmode')) parameters.set('sslmode', PGSSLMODE)
  return url.href
}

const withHost = (url: URL, host: string): string =>
  `postgres://${host.includes(':') ? `[${host}]` : host}${url.pathname || '/'}${url.search}`

/** Where the database is, without its password. */
export function shownDatabase(url: string): string {
  if (!isPostgres(url) || !URL.canParse(url)) return url
  const { hostname, port, pathname, searchParams } = new URL(url)
  return `PostgreSQL at ${hostname || searchParams.get('host') || 'localhost'}:${port || '5432'}${pathname}`
}
