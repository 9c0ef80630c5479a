/** Settings come from the environment, are checked once at start, and are frozen. `docs/reference/settings.md` is made from this table. */

interface Setting<T> {
  readonly variable: string
  readonly fallback: string | undefined
  readonly describes: string
  /** Throws with a sentence that says what is expected. */
  readonly read: (text: string) => T
}

const setting = <T>(definition: Setting<T>): Setting<T> => definition

const text = (value: string): string => value

const wholeNumber =
  (min: number, max: number) =>
  (value: string): number => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}`)
    return number
  }

const oneOf =
  <const C extends readonly string[]>(...choices: C) =>
  (value: string): C[number] => {
    if (!choices.includes(value)) throw new Error(`must be one of ${choices.join(', ')}`)
    return value
  }

function databaseUrl(value: string): string {
  if (/^sqlite:.+/.test(value) || /^postgres(ql)?:\/\/.+/.test(value)) return value
  throw new Error('must be sqlite:<path> or postgres://user:password@host/database')
}

function bootstrapKey(value: string): string {
  if (/^phx_[0-9A-Za-z]{20,100}$/.test(value)) return value
  throw new Error('must be phx_ followed by 20 to 100 letters and digits')
}

function personalKey(value: string): string {
  if (/^phx_\S+$/.test(value)) return value
  throw new Error('must be a personal API key, phx_…')
}

function trustProxy(value: string): boolean | number | string {
  if (value === 'true' || value === 'false') return value === 'true'
  return /^\d+$/.test(value) ? Number(value) : value
}

function httpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return value.replace(/\/+$/, '')
  throw new Error('must be an http:// or https:// address')
}

function secretKey(value: string): string {
  if (value.length >= 16) return value
  throw new Error('must be at least 16 characters, better 32 random bytes in base64')
}

const origins = (value: string): readonly string[] =>
  value
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(httpUrl)

export const settings = {
  host: setting({
    variable: 'HOST',
    fallback: '127.0.0.1',
    describes: 'Address to listen on. `0.0.0.0` or `::` opens it to the network.',
    read: text,
  }),
  port: setting({
    variable: 'PORT',
    fallback: '8000',
    describes: 'Port to listen on; 0 picks a free one.',
    read: wholeNumber(0, 65_535),
  }),
  workers: setting({
    variable: 'HALYARD_WORKERS',
    fallback: '1',
    describes: 'Processes that serve on the one port, over the same database. One that dies is replaced.',
    read: wholeNumber(1, 256),
  }),
  databaseUrl: setting({
    variable: 'DATABASE_URL',
    fallback: 'sqlite:data/halyard.db',
    describes: 'Where everything is kept: `sqlite:<path>` or `postgres://…`.',
    read: databaseUrl,
  }),
  databaseWaitSeconds: setting({
    variable: 'HALYARD_DATABASE_WAIT_SECONDS',
    fallback: undefined,
    describes:
      'How long a start waits for a PostgreSQL that does not answer, before it ends with a failure; unset means as long as it takes. Meanwhile `/_livez` says yes and everything else 503.',
    read: wholeNumber(0, 86_400),
  }),
  statementMillisecondsMax: setting({
    variable: 'HALYARD_STATEMENT_MILLISECONDS_MAX',
    fallback: '15000',
    describes: 'PostgreSQL: a statement that takes longer is ended and its request is answered 503.',
    read: wholeNumber(100, 3_600_000),
  }),
  changeChannel: setting({
    variable: 'HALYARD_CHANGE_CHANNEL',
    fallback: 'notify',
    describes:
      "PostgreSQL: how nodes hear of each other's changes. `notify` uses LISTEN/NOTIFY; `poll` only asks, for databases and poolers without it.",
    read: oneOf('notify', 'poll'),
  }),
  changePollMilliseconds: setting({
    variable: 'HALYARD_CHANGE_POLL_MILLISECONDS',
    fallback: undefined,
    describes: 'How often a node asks for changes it was not told of: 1000 with `notify`, 25 with `poll`.',
    read: wholeNumber(5, 600_000),
  }),
  bootstrapKey: setting({
    variable: 'HALYARD_BOOTSTRAP_KEY',
    fallback: undefined,
    describes: "The first owner's personal API key, for scripted set-ups; used only when the database is empty.",
    read: bootstrapKey,
  }),
  publicUrl: setting({
    variable: 'HALYARD_PUBLIC_URL',
    fallback: undefined,
    describes: 'The address that people use, for start-up messages and invitations.',
    read: httpUrl,
  }),
  trustProxy: setting({
    variable: 'TRUST_PROXY',
    fallback: 'false',
    describes:
      'Whose `X-Forwarded-*` headers to believe: `true`, `false`, the number of proxies (when nobody gets here past them), or their addresses.',
    read: trustProxy,
  }),
  bodyBytesMax: setting({
    variable: 'HALYARD_BODY_BYTES_MAX',
    fallback: String(20 * 1024 * 1024),
    describes: 'Largest request body in bytes; a larger one is answered 413.',
    read: wholeNumber(1024, 1024 ** 3),
  }),
  bodiesBytesMax: setting({
    variable: 'HALYARD_BODIES_BYTES_MAX',
    fallback: String(256 * 1024 * 1024),
    describes:
      'Bytes of request bodies over 64 KiB, packed and unpacked, and of answers over 1 MiB that one process holds at once; beyond it slow bodies, else the newest, are answered 503.',
    read: wholeNumber(1024 ** 2, 1024 ** 4),
  }),
  requestsPerMinuteMax: setting({
    variable: 'HALYARD_REQUESTS_PER_MINUTE_MAX',
    fallback: undefined,
    describes: 'Requests that one personal API key may make in a minute; unset means no limit.',
    read: wholeNumber(1, 1_000_000_000),
  }),
  flagsPerProjectMax: setting({
    variable: 'HALYARD_FLAGS_PER_PROJECT_MAX',
    fallback: '10000',
    describes: 'Flags that one project may have, deleted ones not counted; one more is answered 400.',
    read: wholeNumber(1, 1_000_000),
  }),
  definitionBytesPerProjectMax: setting({
    variable: 'HALYARD_DEFINITION_BYTES_PER_PROJECT_MAX',
    fallback: String(64 * 1024 * 1024),
    describes: 'Bytes that the conditions and payloads of one project may have together; more is answered 400.',
    read: wholeNumber(1024, 1024 ** 3),
  }),
  servedBytesMax: setting({
    variable: 'HALYARD_SERVED_BYTES_MAX',
    fallback: String(256 * 1024 * 1024),
    describes:
      'Bytes of conditions and payloads that one process keeps in memory for all projects; beyond it those not asked for the longest are read again when they are.',
    read: wholeNumber(1024, 1024 ** 4),
  }),
  streamsMax: setting({
    variable: 'HALYARD_STREAMS_MAX',
    fallback: '50000',
    describes: 'Streams that one process keeps open; one more is answered 429.',
    read: wholeNumber(1, 1_000_000),
  }),
  streamsPerProjectMax: setting({
    variable: 'HALYARD_STREAMS_PER_PROJECT_MAX',
    fallback: '20000',
    describes: 'Streams that one process keeps open for one project; one more is answered 429.',
    read: wholeNumber(1, 1_000_000),
  }),
  eventsWaitingMax: setting({
    variable: 'HALYARD_EVENTS_WAITING_MAX',
    fallback: '20000',
    describes:
      'Events that may wait in one process to be stored, nine tenths of them of one project; more are answered 503 with `Retry-After`.',
    read: wholeNumber(2, 10_000_000),
  }),
  warmProjectsMax: setting({
    variable: 'HALYARD_WARM_PROJECTS_MAX',
    fallback: '1000',
    describes:
      'Projects read into memory at the start, those changed last first, so that they are served even when the database goes before anybody asks; 0 waits for the first request.',
    read: wholeNumber(0, 100_000),
  }),
  schedulerSeconds: setting({
    variable: 'HALYARD_SCHEDULER_SECONDS',
    fallback: '5',
    describes:
      'How often this node looks for scheduled changes and rollbacks that are due; 0 leaves them to other nodes.',
    read: wholeNumber(0, 3600),
  }),
  secretKey: setting({
    variable: 'HALYARD_SECRET_KEY',
    fallback: undefined,
    describes:
      'Encrypts the secret settings of plugins. Unset: made at the first start and kept in `halyard.key` beside the SQLite file, or in the PostgreSQL database.',
    read: secretKey,
  }),
  pluginDirectory: setting({
    variable: 'HALYARD_PLUGIN_DIR',
    fallback: 'examples/plugins',
    describes: 'Folder whose sub-folders are the plugins of type `local`.',
    read: text,
  }),
  pluginWorkers: setting({
    variable: 'HALYARD_PLUGIN_WORKERS',
    fallback: undefined,
    describes: 'Threads that run plugin code; unset means one less than the cores, 2 to 4.',
    read: wholeNumber(1, 64),
  }),
  geoipDatabase: setting({
    variable: 'HALYARD_GEOIP_DATABASE',
    fallback: undefined,
    describes:
      "City database in MaxMind's format (`.mmdb`) in which plugins look IP addresses up, read at the start; unset: they find nothing.",
    read: text,
  }),
  npmRegistry: setting({
    variable: 'HALYARD_NPM_REGISTRY',
    fallback: undefined,
    describes: 'Where plugins are installed from; unset means the registry that the npm client is configured with.',
    read: httpUrl,
  }),
  gitHubApi: setting({
    variable: 'HALYARD_GITHUB_API',
    fallback: undefined,
    describes: 'Programming interface of a GitHub of your own; unset means https://api.github.com.',
    read: httpUrl,
  }),
  gitHubToken: setting({
    variable: 'HALYARD_GITHUB_TOKEN',
    fallback: undefined,
    describes: 'Token for GitHub when a plugin address has none.',
    read: text,
  }),
  gitLabApi: setting({
    variable: 'HALYARD_GITLAB_API',
    fallback: undefined,
    describes: 'Programming interface of a GitLab of your own; unset means https://gitlab.com/api/v4.',
    read: httpUrl,
  }),
  gitLabToken: setting({
    variable: 'HALYARD_GITLAB_TOKEN',
    fallback: undefined,
    describes: 'Token for GitLab when a plugin address has none.',
    read: text,
  }),
  trustedOrigins: setting({
    variable: 'HALYARD_TRUSTED_ORIGINS',
    fallback: '',
    describes:
      'Origins in private networks that plugins may be allowed to ask, separated by commas, as `http://chat.internal:8080`.',
    read: origins,
  }),
  upstream: setting({
    variable: 'HALYARD_UPSTREAM',
    fallback: undefined,
    describes: '`halyard edge`: address of the server, or of the edge, that this edge follows.',
    read: httpUrl,
  }),
  upstreamKey: setting({
    variable: 'HALYARD_UPSTREAM_KEY',
    fallback: undefined,
    describes: '`halyard edge`: personal API key of an admin with the scope `edge:write`, for the upstream.',
    read: personalKey,
  }),
  edgeData: setting({
    variable: 'HALYARD_EDGE_DATA',
    fallback: 'edge-data',
    describes: '`halyard edge`: folder for the last state and for events on their way to the upstream.',
    read: text,
  }),
  edgeStateBytesMax: setting({
    variable: 'HALYARD_EDGE_STATE_BYTES_MAX',
    fallback: String(256 * 1024 * 1024),
    describes:
      '`halyard edge`: how much state to take from the upstream; of a larger one the last that fitted is kept.',
    read: wholeNumber(1024, 8 * 1024 ** 3),
  }),
  edgeSpoolBytesMax: setting({
    variable: 'HALYARD_EDGE_SPOOL_BYTES_MAX',
    fallback: String(1024 ** 3),
    describes: '`halyard edge`: how much may wait on disk for the upstream; beyond it, events are answered 503.',
    read: wholeNumber(1024, 1024 ** 4),
  }),
  edgeLookUps: setting({
    variable: 'HALYARD_EDGE_LOOK_UPS',
    fallback: 'upstream',
    describes:
      '`halyard edge`: whether stored persons and groups are looked up at the upstream when a flag needs them (`upstream`), or never (`none`).',
    read: oneOf('upstream', 'none'),
  }),
  lagMillisecondsMax: setting({
    variable: 'HALYARD_LAG_MILLISECONDS_MAX',
    fallback: '1000',
    describes:
      'When the event loop is repeatedly later than this, or an evaluation has waited longer, evaluations are answered 503; at four times the lag, management as well. 0 means never.',
    read: wholeNumber(0, 60_000),
  }),
  inFlightMax: setting({
    variable: 'HALYARD_REQUESTS_IN_FLIGHT_MAX',
    fallback: '10000',
    describes:
      'Requests being answered at once, beyond which evaluation is answered 503; at twice this, management as well.',
    read: wholeNumber(1, 1_000_000),
  }),
  fastPath: setting({
    variable: 'HALYARD_FAST_PATH',
    fallback: 'on',
    describes:
      '`on` answers evaluations and polls for definitions on the raw socket; `off` sends every request through the ordinary path, with the same responses at lower speed.',
    read: oneOf('on', 'off'),
  }),
  accessLog: setting({
    variable: 'HALYARD_ACCESS_LOG',
    fallback: 'errors',
    describes:
      'Which evaluation requests (`/flags`, `/decide`, definitions, OFREP) are logged: `errors` (status 400 and above), `sampled` (errors and one in 100), `all` or `off`. All other requests are always logged.',
    read: oneOf('errors', 'sampled', 'all', 'off'),
  }),
  logLevel: setting({
    variable: 'LOG_LEVEL',
    fallback: 'info',
    describes: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    read: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  }),
} as const

export type Config = {
  readonly [Name in keyof typeof settings]:
    | ReturnType<(typeof settings)[Name]['read']>
    | ((typeof settings)[Name]['fallback'] extends undefined ? undefined : never)
}

export class ConfigError extends Error {}

/** Raises one ConfigError that names every setting at fault. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = []
  const values = Object.entries(settings).map(([name, { variable, fallback, read }]) => {
    const given = environment[variable]
    const value = given === undefined || given === '' ? fallback : given
    if (value === undefined) return [name, undefined]
    try {
      return [name, read(value)]
    } catch (error) {
      faults.push(`${variable} ${(error as Error).message}.`)
      return [name, undefined]
    }
  })
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return Object.freeze(Object.fromEntries(values)) as Config
}
