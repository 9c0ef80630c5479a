/** Where counted events are stored when it is not the database: `EVENTS_URL`, parsed. */
export interface EventsUrl {
  /** `http://host:port`, one per replica. */
  readonly origins: readonly string[]
  readonly user: string
  readonly password: string
  readonly database: string
  /** The servers replicate each other through ZooKeeper or ClickHouse Keeper. */
  readonly isReplicated: boolean
  /** On how many replicas an insert is stored before it is acknowledged. */
  readonly quorum: number
  /** Whether what persons do is recorded by day, for the histories of behavioral cohorts. */
  readonly recordsPersonEvents: boolean
}

const pattern = /^(clickhouses?):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?#@]+)\/([A-Za-z_]\w{0,62})(?:\?([^#]*))?$/
const ports = { clickhouse: '8123', clickhouses: '8443' }
const protocols = { clickhouse: 'http', clickhouses: 'https' }

/** Throws an Error whose message continues the sentence "EVENTS_URL …". */
export function eventsUrl(value: string): EventsUrl {
  const [, scheme, user = '', password = '', hosts = '', database = '', query = ''] = pattern.exec(value) ?? []
  if (scheme !== 'clickhouse' && scheme !== 'clickhouses') {
    throw new Error(
      'must be clickhouse://user:password@host:port/database, or clickhouses:// for TLS. Percent-encode special characters in the password; separate several hosts by commas',
    )
  }
  const origins = hosts.split(',').map(host => originOf(scheme, host.trim()))
  const parameters = readParameters(query)
  const { isReplicated, quorum } = parameters
  if (origins.length > 1 && !isReplicated) {
    throw new Error('with several hosts needs ?replicated=1: the hosts must be replicas of each other')
  }
  if (quorum > origins.length) throw new Error('has a quorum that is larger than its number of hosts')
  return { origins, user: decoded(user) || 'default', password: decoded(password), database, ...parameters }
}

function originOf(scheme: keyof typeof ports, host: string): string {
  const withPort = /:\d+$/.test(host) ? host : `${host}:${ports[scheme]}`
  const origin = `${protocols[scheme]}://${withPort}`
  if (host === '' || !URL.canParse(origin)) throw new Error(`names a host that is none: "${host}"`)
  return origin
}

const parameterNames = ['replicated', 'quorum', 'person_events']

function readParameters(query: string): Pick<EventsUrl, 'isReplicated' | 'quorum' | 'recordsPersonEvents'> {
  const parameters = new URLSearchParams(query)
  for (const name of parameters.keys()) {
    if (!parameterNames.includes(name)) throw new Error(`has an unknown parameter "${name}"`)
  }
  const replicated = parameters.get('replicated') ?? '0'
  const quorum = parameters.get('quorum') ?? '1'
  const personEvents = parameters.get('person_events') ?? '1'
  if (!/^[01]$/.test(replicated)) throw new Error('has a replicated that is not 0 or 1')
  if (!/^[01]$/.test(personEvents)) throw new Error('has a person_events that is not 0 or 1')
  if (!/^[1-9]$/.test(quorum)) throw new Error('has a quorum that is not a number from 1 to 9')
  if (quorum !== '1' && replicated === '0') throw new Error('with a quorum needs replicated=1')
  return { isReplicated: replicated === '1', quorum: Number(quorum), recordsPersonEvents: personEvents === '1' }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('has a % in user or password that is not percent-encoded; write %25')
  }
}
