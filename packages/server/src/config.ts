import { readFileSync } from 'node:fs'
import { ExplainedError } from './problem.ts'
import { databaseUrl, databaseUrlFrom, libpqVariables } from './settings/database-url.ts'
import { eventsUrl } from './settings/events-url.ts'
import {
  addresses,
  bootstrapKey,
  emailAddress,
  httpUrl,
  oneOf,
  onOrOff,
  origins,
  ownerPassword,
  personalKey,
  secretKey,
  smtpUrl,
  text,
  trustProxy,
  wholeNumber,
} from './settings/setting-values.ts'
import { unknownSettings } from './settings/unknown-settings.ts'

/** Settings are environment variables, validated once at start. `docs/reference/settings.md` is generated from this table. */

interface Setting<T> {
  readonly variable: string
  readonly fallback: string | undefined
  readonly describes: string
  /** A secret may also be given as a file: its path is in the variable with `_FILE` appended. */
  readonly isSecret?: true
  /** Throws an Error that says what is expected. */
  readonly read: (text: string) => T
}

type Details<T> = Pick<Setting<T>, 'describes' | 'isSecret'> & { readonly fallback?: string }

const setting = <T>(variable: string, read: Setting<T>['read'], details: Details<T>): Setting<T> => ({
  fallback: undefined,
  ...details,
  variable,
  read,
})

export const settings = {
  host: setting('HOST', text, {
    fallback: '127.0.0.1',
    describes: 'Address to listen on. `0.0.0.0` or `::` opens it to the network.',
  }),
  port: setting('PORT', wholeNumber(0, 65_535), {
    fallback: '8000',
    describes: 'Port to listen on; 0 picks a free one.',
  }),
  workers: setting('HALYARD_WORKERS', wholeNumber(1, 256), {
    fallback: '1',
    describes: 'Processes that serve the port together, on one database. One that dies is replaced.',
  }),
  databaseUrl: setting('DATABASE_URL', databaseUrl, {
    fallback: 'sqlite:data/halyard.db',
    describes:
      'Database: `sqlite:<path>` or `postgres://user:password@host/database`. `PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`, `PGDATABASE` and `PGSSLMODE` fill in what a `postgres://` URL leaves out, and are enough without one.',
    isSecret: true,
  }),
  personsDatabaseUrl: setting('PERSONS_DATABASE_URL', databaseUrl, {
    describes:
      'Database of its own for persons, groups, members of static cohorts and counts of their events: `postgres://user:password@host/database`, or `sqlite:<path>`. Unset: they are stored in the main database. Once set, it is needed by every node.',
    isSecret: true,
  }),
  databaseWaitSeconds: setting('HALYARD_DATABASE_WAIT_SECONDS', wholeNumber(0, 86_400), {
    describes:
      'How long a start waits for an unavailable PostgreSQL before it fails; unset means without limit. Meanwhile `/_livez` returns 200 and everything else 503.',
  }),
  eventsUrl: setting('EVENTS_URL', eventsUrl, {
    describes:
      'ClickHouse for what is counted: `clickhouse://user:password@host:8123/database`, `clickhouses://` for TLS. Several hosts, separated by commas, need `?replicated=1`; `&quorum=2` acknowledges what two of them stored. Unset: counts are stored in the database.',
    isSecret: true,
  }),
  eventsReadMillisecondsMax: setting('HALYARD_EVENTS_READ_MILLISECONDS_MAX', wholeNumber(100, 300_000), {
    fallback: '5000',
    describes: 'ClickHouse: deadline of a query. The request then returns 503.',
  }),
  eventsBacklogBytesMax: setting('HALYARD_EVENTS_BACKLOG_BYTES_MAX', wholeNumber(1024, 1024 ** 4), {
    fallback: String(1024 ** 3),
    describes:
      'ClickHouse: bytes of counts that wait in the database while it is unavailable. Beyond it, events are recorded without being counted.',
  }),
  statementMillisecondsMax: setting('HALYARD_STATEMENT_MILLISECONDS_MAX', wholeNumber(100, 3_600_000), {
    fallback: '15000',
    describes: 'PostgreSQL: statement timeout. The request then returns 503.',
  }),
  changeChannel: setting('HALYARD_CHANGE_CHANNEL', oneOf('notify', 'poll'), {
    fallback: 'notify',
    describes:
      "PostgreSQL: how nodes learn of each other's changes. `notify` uses LISTEN/NOTIFY; `poll` only polls, for databases and poolers without it.",
  }),
  changePollMilliseconds: setting('HALYARD_CHANGE_POLL_MILLISECONDS', wholeNumber(5, 600_000), {
    describes: 'How often a node polls for changes; unset means 1000 with `notify` and 25 with `poll`.',
  }),
  bootstrapKey: setting('HALYARD_BOOTSTRAP_KEY', bootstrapKey, {
    describes: 'Personal API key of the first owner, for scripted setups; used only on an empty database.',
    isSecret: true,
  }),
  ownerEmail: setting('HALYARD_OWNER_EMAIL', emailAddress, {
    fallback: 'owner@halyard.local',
    describes: 'Email address of the first owner; used only on an empty database.',
  }),
  ownerPassword: setting('HALYARD_OWNER_PASSWORD', ownerPassword, {
    describes:
      'Password of the first owner; used only on an empty database. Unset: generated, or chosen on the setup page.',
    isSecret: true,
  }),
  fourEyesDays: setting('HALYARD_FOUR_EYES_DAYS', wholeNumber(0, 365), {
    fallback: '30',
    describes:
      'For how many days an account that someone invited, provisioned or promoted does not count as another person when changes are approved. `0` trusts new accounts at once.',
  }),
  passwordCost: setting('HALYARD_PASSWORD_COST', wholeNumber(10, 20), {
    fallback: '14',
    describes:
      'Cost of hashing new passwords with scrypt, as a power of two: each step doubles the time and memory of a sign-in. Existing passwords keep theirs until they are changed.',
  }),
  printCredentials: setting('HALYARD_PRINT_CREDENTIALS', onOrOff, {
    describes:
      'Whether a first start prints the generated password and key: `1` or `0`. Unset: only on a terminal; elsewhere it prints a one-time link to the setup page.',
  }),
  publicUrl: setting('HALYARD_PUBLIC_URL', httpUrl, {
    describes: 'URL that users open, for the welcome message and invitations.',
  }),
  smtpUrl: setting('HALYARD_SMTP_URL', smtpUrl, {
    describes:
      'Mail server that sends invitations and notices about change requests: `smtp://user:password@host:587` (TLS when offered; `?requireTLS=true` insists) or `smtps://…`. Needs `HALYARD_PUBLIC_URL`. Unset: no email is sent.',
    isSecret: true,
  }),
  emailFrom: setting('HALYARD_EMAIL_FROM', emailAddress, {
    describes: 'Sender of emails; unset means `halyard@` and the host of `HALYARD_PUBLIC_URL`.',
  }),
  trustProxy: setting('TRUST_PROXY', trustProxy, {
    fallback: 'false',
    describes:
      'Trusted proxies, whose `X-Forwarded-*` headers are used: `true`, `false`, the number of proxies (when there is no other way to this server), or IP addresses and CIDR ranges separated by commas. `true` trusts what clients write, so they can forge their address and evade the limit on sign-ins.',
  }),
  bodyBytesMax: setting('HALYARD_BODY_BYTES_MAX', wholeNumber(1024, 1024 ** 3), {
    fallback: String(20 * 1024 * 1024),
    describes: 'Largest request body in bytes; a larger one returns 413.',
  }),
  bodiesBytesMax: setting('HALYARD_BODIES_BYTES_MAX', wholeNumber(1024 ** 2, 1024 ** 4), {
    fallback: String(256 * 1024 * 1024),
    describes:
      'Memory budget of one process for request bodies over 64 KiB, compressed and decompressed, and for responses over 1 MiB; beyond it slow bodies, then the newest, return 503.',
  }),
  requestsPerMinuteMax: setting('HALYARD_REQUESTS_PER_MINUTE_MAX', wholeNumber(0, 1_000_000_000), {
    fallback: '600000',
    describes:
      'Requests per minute with one personal API key, then 429; 0 means no limit. The default is far above what SDKs and edges need and stops only runaway scripts: lower it where untrusted users have keys.',
  }),
  flagsPerProjectMax: setting('HALYARD_FLAGS_PER_PROJECT_MAX', wholeNumber(1, 1_000_000), {
    fallback: '10000',
    describes: 'Flags in one project, without deleted ones; one more returns 400.',
  }),
  definitionBytesPerProjectMax: setting('HALYARD_DEFINITION_BYTES_PER_PROJECT_MAX', wholeNumber(1024, 1024 ** 3), {
    fallback: String(64 * 1024 * 1024),
    describes: 'Total size of the conditions and payloads of one project; more returns 400.',
  }),
  servedBytesMax: setting('HALYARD_SERVED_BYTES_MAX', wholeNumber(1024, 1024 ** 4), {
    fallback: String(256 * 1024 * 1024),
    describes:
      'Memory budget of one process for the conditions and payloads of all projects; beyond it the least recently used projects are evicted and read again on demand.',
  }),
  streamsMax: setting('HALYARD_STREAMS_MAX', wholeNumber(1, 1_000_000), {
    fallback: '50000',
    describes: 'Open streams in one process; one more returns 429.',
  }),
  streamsPerProjectMax: setting('HALYARD_STREAMS_PER_PROJECT_MAX', wholeNumber(1, 1_000_000), {
    fallback: '20000',
    describes: 'Open streams in one process for one project; one more returns 429.',
  }),
  eventsWaitingMax: setting('HALYARD_EVENTS_WAITING_MAX', wholeNumber(2, 10_000_000), {
    fallback: '20000',
    describes:
      'Events queued in one process, at most nine tenths of them of one project; more return 503 with `Retry-After`.',
  }),
  warmProjectsMax: setting('HALYARD_WARM_PROJECTS_MAX', wholeNumber(0, 100_000), {
    fallback: '1000',
    describes:
      'Projects loaded into memory at start, most recently changed first, so that they are served even if the database fails before the first request; 0 loads on demand.',
  }),
  schedulerSeconds: setting('HALYARD_SCHEDULER_SECONDS', wholeNumber(0, 3600), {
    fallback: '5',
    describes: 'How often this node runs scheduled changes and rollbacks that are due; 0 leaves them to other nodes.',
  }),
  activityDays: setting('HALYARD_ACTIVITY_DAYS', wholeNumber(30, 36_500), {
    describes: 'Days after which activity entries are removed; unset means never. Versions of flags stay.',
  }),
  auditDays: setting('HALYARD_AUDIT_DAYS', wholeNumber(30, 36_500), {
    describes:
      'Days after which entries of the audit log are removed; unset means never. A checkpoint stays, so that the rest can be verified.',
  }),
  personDays: setting('HALYARD_PERSON_DAYS', wholeNumber(30, 36_500), {
    describes:
      'Days without an event after which a person is removed, counted from when this is set; unset means never. Members of static cohorts stay.',
  }),
  secretKey: setting('HALYARD_SECRET_KEY', secretKey, {
    describes:
      'Encrypts secrets in the database, such as plugin settings. Unset: generated at the first start and stored in `halyard.key` beside the SQLite file, or in the PostgreSQL database.',
    isSecret: true,
  }),
  pluginDirectory: setting('HALYARD_PLUGIN_DIR', text, {
    fallback: 'examples/plugins',
    describes: 'Folder whose subfolders are the plugins of type `local`.',
  }),
  pluginWorkers: setting('HALYARD_PLUGIN_WORKERS', wholeNumber(1, 64), {
    describes: 'Threads that run plugin code; unset means one less than the number of cores, 2 to 4.',
  }),
  pluginRealmsMax: setting('HALYARD_PLUGIN_REALMS_MAX', wholeNumber(1, 10_000), {
    fallback: '64',
    describes:
      'Plugin configurations that one process has in memory at once; the least recently used one is closed for another and opened again on demand.',
  }),
  pluginRealmsPerOrganizationMax: setting('HALYARD_PLUGIN_REALMS_PER_ORGANIZATION_MAX', wholeNumber(1, 10_000), {
    fallback: '16',
    describes: 'The same, for the projects of one organization.',
  }),
  pluginMemoryMegabytesMax: setting('HALYARD_PLUGIN_MEMORY_MB_MAX', wholeNumber(64, 1_048_576), {
    fallback: '1024',
    describes: 'Megabytes that all plugins of one process may hold together; beyond it idle ones are closed.',
  }),
  geoipDatabase: setting('HALYARD_GEOIP_DATABASE', text, {
    describes:
      "City database in MaxMind's format (`.mmdb`) for plugins that look up IP addresses, read at start; unset: lookups find nothing.",
  }),
  npmRegistry: setting('HALYARD_NPM_REGISTRY', httpUrl, {
    describes:
      'npm registry that plugins are installed from; unset means the one that the npm client is configured with.',
  }),
  gitHubApi: setting('HALYARD_GITHUB_API', httpUrl, {
    describes: 'GitHub Enterprise API base URL; unset means https://api.github.com.',
  }),
  gitHubToken: setting('HALYARD_GITHUB_TOKEN', text, {
    describes: 'GitHub token for plugin URLs without one.',
    isSecret: true,
  }),
  gitLabApi: setting('HALYARD_GITLAB_API', httpUrl, {
    describes: 'API base URL of a self-managed GitLab; unset means https://gitlab.com/api/v4.',
  }),
  gitLabToken: setting('HALYARD_GITLAB_TOKEN', text, {
    describes: 'GitLab token for plugin URLs without one.',
    isSecret: true,
  }),
  trustedOrigins: setting('HALYARD_TRUSTED_ORIGINS', origins, {
    fallback: '',
    describes:
      'Origins in private networks that plugins can be granted access to, and that webhooks and identity providers can name, separated by commas: `http://chat.internal:8080`.',
  }),
  dnsServers: setting('HALYARD_DNS_SERVERS', addresses, {
    fallback: '',
    describes:
      'DNS servers that domains of organizations are verified with, separated by commas: `192.0.2.53,192.0.2.54:5353`. Unset: those of the system.',
  }),
  upstream: setting('HALYARD_UPSTREAM', httpUrl, {
    describes: '`halyard edge`: URL of the server or edge to replicate.',
  }),
  upstreamKey: setting('HALYARD_UPSTREAM_KEY', personalKey, {
    describes: '`halyard edge`: personal API key of an admin with the scope `edge:write`, for the upstream.',
    isSecret: true,
  }),
  edgeData: setting('HALYARD_EDGE_DATA', text, {
    fallback: 'edge-data',
    describes: '`halyard edge`: folder for the last state and for events that are queued for the upstream.',
  }),
  edgeStateBytesMax: setting('HALYARD_EDGE_STATE_BYTES_MAX', wholeNumber(1024, 8 * 1024 ** 3), {
    fallback: String(256 * 1024 * 1024),
    describes: '`halyard edge`: largest state to accept from the upstream; with a larger one the previous state stays.',
  }),
  edgeStateHoursMax: setting('HALYARD_EDGE_STATE_HOURS_MAX', wholeNumber(1, 8760), {
    fallback: '72',
    describes:
      '`halyard edge`: without its upstream for longer than this, the edge refuses personal and secret keys and is not ready. Public tokens still evaluate.',
  }),
  edgeSpoolBytesMax: setting('HALYARD_EDGE_SPOOL_BYTES_MAX', wholeNumber(1024, 1024 ** 4), {
    fallback: String(1024 ** 3),
    describes: '`halyard edge`: bytes of events queued on disk for the upstream; beyond it, events return 503.',
  }),
  edgeLookUps: setting('HALYARD_EDGE_LOOK_UPS', oneOf('upstream', 'none'), {
    fallback: 'upstream',
    describes:
      '`halyard edge`: where stored persons and groups are looked up when a flag needs them: `upstream` or `none`.',
  }),
  lagMillisecondsMax: setting('HALYARD_LAG_MILLISECONDS_MAX', wholeNumber(0, 60_000), {
    fallback: '1000',
    describes:
      'When the event loop lags behind by more than this repeatedly, or an evaluation has waited longer, evaluation returns 503; at four times this, management as well. 0 disables the check.',
  }),
  inFlightMax: setting('HALYARD_REQUESTS_IN_FLIGHT_MAX', wholeNumber(1, 1_000_000), {
    fallback: '10000',
    describes: 'Requests in flight beyond which evaluation returns 503; at twice this, management as well.',
  }),
  fastPath: setting('HALYARD_FAST_PATH', oneOf('on', 'off'), {
    fallback: 'on',
    describes:
      '`on` answers evaluations before routing; `off` sends them through the ordinary route, with the same responses at lower speed.',
  }),
  accessLog: setting('HALYARD_ACCESS_LOG', oneOf('errors', 'sampled', 'all', 'off'), {
    fallback: 'errors',
    describes:
      'Which evaluation requests (`/flags`, `/decide`, definitions, OFREP) are logged: `errors` (status 400 and above), `sampled` (errors and one in 100), `all` or `off`. All other requests are always logged.',
  }),
  logFormat: setting('LOG_FORMAT', oneOf('auto', 'json', 'pretty'), {
    fallback: 'auto',
    describes: '`json`, `pretty`, or `auto`: pretty on a terminal and JSON elsewhere.',
  }),
  metricsPort: setting('HALYARD_METRICS_PORT', wholeNumber(1, 65_535), {
    describes:
      'Port of its own for `/metrics`, on `HOST`; the main port then returns 404 for it. Unset: on the main port.',
  }),
  metricsToken: setting('METRICS_TOKEN', text, {
    isSecret: true,
    describes: 'Token that `/metrics` requires as `Authorization: Bearer`; unset: none.',
  }),
  logLevel: setting('LOG_LEVEL', oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    fallback: 'info',
    describes: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
  }),
} as const

export type Config = {
  readonly [Name in keyof typeof settings]:
    | ReturnType<(typeof settings)[Name]['read']>
    | ((typeof settings)[Name]['fallback'] extends undefined ? undefined : never)
}

export class ConfigError extends ExplainedError {}

type Environment = Readonly<Record<string, string | undefined>>

const secretVariables = [...secretsIn(settings), 'PGPASSWORD']
/** Every variable of the table, also as a file, for the check for misspelt ones. */
const knownVariables = [
  ...Object.values(settings).map(({ variable }) => variable),
  ...secretVariables.map(variable => `${variable}_FILE`),
]

/** The same, with those of libpq that fill in DATABASE_URL. */
export const readableVariables: readonly string[] = [...knownVariables, ...libpqVariables]

function secretsIn(all: Readonly<Record<string, { variable: string; isSecret?: true }>>): string[] {
  return Object.values(all).flatMap(({ variable, isSecret }) => (isSecret ? [variable] : []))
}

/** Raises one ConfigError that names every wrong setting. */
export function readConfig(variables: Environment): Config {
  const problems: string[] = []
  const environment = withSecretFiles(variables, problems)
  const databaseUrlGiven = databaseUrlFrom(environment)
  const values = Object.entries(settings).map(([name, { variable, fallback, read }]) => {
    const value = (variable === 'DATABASE_URL' ? databaseUrlGiven : environment[variable]) || fallback
    if (value === undefined) return [name, undefined]
    try {
      return [name, read(value)]
    } catch (error) {
      problems.push(`${variable} ${(error as Error).message}.`)
      return [name, undefined]
    }
  })
  if (environment[settings.smtpUrl.variable] && !environment[settings.publicUrl.variable]) {
    problems.push('HALYARD_SMTP_URL needs HALYARD_PUBLIC_URL: emails contain links to it.')
  }
  if (environment.PERSONS_DATABASE_URL && environment.PERSONS_DATABASE_URL === databaseUrlGiven) {
    problems.push('PERSONS_DATABASE_URL is the same as DATABASE_URL. Leave it out, or name a database of its own.')
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return Object.freeze(Object.fromEntries(values)) as Config
}

/** Sentences about variables that look like misspelt settings. */
export const settingWarnings = (environment: Environment): SettingWarning[] => [
  ...unknownSettings(environment, knownVariables).map(message => ({ event: 'unknown_setting', message })),
  ...(environment.TRUST_PROXY === 'true' ? [{ event: 'unsafe_setting', message: trustsEveryProxy }] : []),
]

interface SettingWarning {
  readonly event: string
  readonly message: string
}

const trustsEveryProxy =
  'TRUST_PROXY is true: clients can forge their address and evade the limit on sign-ins. Set the number of proxies or their addresses.'

function withSecretFiles(environment: Environment, problems: string[]): Environment {
  const read = secretVariables.flatMap(variable => {
    const path = environment[`${variable}_FILE`]
    if (!path) return []
    if (environment[variable]) {
      problems.push(`${variable} and ${variable}_FILE are both set. Set only one of them.`)
      return []
    }
    try {
      return [[variable, readFileSync(path, 'utf8').trim()]]
    } catch (error) {
      problems.push(`${variable}_FILE cannot be read: ${(error as Error).message}.`)
      return []
    }
  })
  return read.length === 0 ? environment : { ...environment, ...Object.fromEntries(read) }
}
