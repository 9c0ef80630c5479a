import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../config.ts'

export interface Finding {
  readonly isGood: boolean
  readonly text: string
}

const groupAndOthers = 0o077

export const isLoopback = (host: string): boolean => host === '127.0.0.1' || host === '::1' || host === 'localhost'

/** `halyard doctor --security`: audits the settings and file permissions of this machine. */
export function securityFindings(config: Config): readonly Finding[] {
  const { databaseUrl } = config
  const isLocal = isLoopback(config.host)
  return [
    finding(
      isLocal || (config.publicUrl?.startsWith('https://') ?? false),
      'Traffic stays on this machine, or HALYARD_PUBLIC_URL is https.',
      `HOST is ${config.host} and HALYARD_PUBLIC_URL is not https: keys would cross the network unencrypted. Put a TLS proxy in front and set HALYARD_PUBLIC_URL.`,
    ),
    finding(
      config.trustProxy !== true,
      'Only named proxies can set the client address.',
      'TRUST_PROXY is true: clients can forge their address and evade the sign-in throttle. Set the number of proxies or their addresses.',
    ),
    finding(
      config.bootstrapKey === undefined,
      'No bootstrap key is in the environment.',
      'HALYARD_BOOTSTRAP_KEY is still set: it grants full access to anyone who can read the environment. Create another key, revoke this one and unset it.',
    ),
    finding(
      config.requestsPerMinuteMax !== 0,
      `Each key is limited to ${config.requestsPerMinuteMax} requests per minute.`,
      'HALYARD_REQUESTS_PER_MINUTE_MAX is 0: requests per key are not limited.',
    ),
    finding(
      config.passwordCost >= 14,
      `Passwords are hashed with scrypt at cost ${config.passwordCost}.`,
      `HALYARD_PASSWORD_COST is ${config.passwordCost}: stolen password hashes would be quick to guess. Use 14 or more.`,
    ),
    finding(
      isLocal || config.metricsToken !== undefined || config.metricsPort !== undefined,
      config.metricsToken === undefined && config.metricsPort === undefined
        ? `Metrics need no token, since HOST is ${config.host}: only this machine reaches them.`
        : 'Metrics need METRICS_TOKEN, or are on a port of their own.',
      'Anyone who reaches this server can read /metrics. Set METRICS_TOKEN or HALYARD_METRICS_PORT, or block the path in the proxy.',
    ),
    finding(
      config.logLevel !== 'trace' && config.logLevel !== 'debug',
      `The log level is ${config.logLevel}.`,
      `LOG_LEVEL is ${config.logLevel}: logs may contain personal data. Use info.`,
    ),
    ...(databaseUrl.startsWith('sqlite:')
      ? fileFindings(resolve(databaseUrl.slice('sqlite:'.length)))
      : postgresFindings(databaseUrl, config.secretKey)),
  ]
}

const finding = (isGood: boolean, good: string, bad: string): Finding => ({ isGood, text: isGood ? good : bad })

function fileFindings(path: string): Finding[] {
  return [path, `${path}-wal`, `${path}-shm`, join(dirname(path), 'halyard.key')].flatMap(file => {
    const mode = modeOf(file)
    if (mode === undefined) return []
    return [
      finding(
        (mode & groupAndOthers) === 0,
        `${file} is readable only by its owner.`,
        `${file} is readable by other users of this machine. Run: chmod 600 ${file}`,
      ),
    ]
  })
}

function modeOf(file: string): number | undefined {
  try {
    return statSync(file).mode
  } catch {
    return undefined
  }
}

function postgresFindings(databaseUrl: string, secretKey: string | undefined): Finding[] {
  const url = new URL(databaseUrl)
  const isLocal = ['localhost', '127.0.0.1', '[::1]', ''].includes(url.hostname)
  const isEncrypted = /^(require|verify-ca|verify-full)$/.test(url.searchParams.get('sslmode') ?? '')
  return [
    finding(
      isLocal || isEncrypted,
      'The database connection is local or encrypted.',
      `The database is at ${url.hostname} and DATABASE_URL has no sslmode=verify-full: data crosses the network unencrypted.`,
    ),
    finding(
      secretKey !== undefined,
      'The encryption key is stored outside the database.',
      'HALYARD_SECRET_KEY is not set: a copy of the database contains both the encrypted secrets and their key.',
    ),
  ]
}
