import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../config.ts'

export interface Finding {
  readonly isGood: boolean
  readonly text: string
}

const othersMayRead = 0o077

/** `halyard doctor --security`: what in the settings and on the disk would make an attacker's life easier. Looks only at this machine. */
export function securityFindings(config: Config): readonly Finding[] {
  const { databaseUrl } = config
  return [
    finding(
      config.host === '127.0.0.1' || config.host === '::1' || (config.publicUrl?.startsWith('https://') ?? false),
      'Traffic stays on this machine, or HALYARD_PUBLIC_URL is https.',
      `HOST is ${config.host} and HALYARD_PUBLIC_URL is not https: keys would cross the network in the clear. Put a proxy with TLS in front and set HALYARD_PUBLIC_URL.`,
    ),
    finding(
      config.trustProxy !== true,
      'Only named proxies may say where a request comes from.',
      'TRUST_PROXY is true: anybody can claim any address and so escape the throttle of sign-ins. Set the number of proxies or their addresses.',
    ),
    finding(
      config.bootstrapKey === undefined,
      'No bootstrap key lies in the environment.',
      'HALYARD_BOOTSTRAP_KEY is still set: it opens everything to whoever reads the environment. Create a key of your own, revoke this one and unset it.',
    ),
    finding(
      config.requestsPerMinuteMax !== undefined,
      'Requests are limited for each key.',
      'HALYARD_REQUESTS_PER_MINUTE_MAX is not set: one key may ask as often as it likes.',
    ),
    finding(
      config.logLevel !== 'trace' && config.logLevel !== 'debug',
      `The log level is ${config.logLevel}.`,
      `LOG_LEVEL is ${config.logLevel}: more than needed is written down. Use info.`,
    ),
    ...(databaseUrl.startsWith('sqlite:')
      ? fileFindings(resolve(databaseUrl.slice('sqlite:'.length)))
      : postgresFindings(databaseUrl, config.secretKey)),
  ]
}

const finding = (isGood: boolean, good: string, bad: string): Finding => ({ isGood, text: isGood ? good : bad })

function fileFindings(path: string): Finding[] {
  return [path, join(dirname(path), 'halyard.key')].flatMap(file => {
    const mode = modeOf(file)
    if (mode === undefined) return []
    return [
      finding(
        (mode & othersMayRead) === 0,
        `${file} can be read by its owner alone.`,
        `${file} can be read by others on this machine. Run: chmod 600 ${file}`,
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
      'The way to the database is local or encrypted.',
      `The database is at ${url.hostname} and DATABASE_URL has no sslmode=verify-full: what is stored crosses the network in the clear.`,
    ),
    finding(
      secretKey !== undefined,
      'The key for plugin secrets is kept outside the database.',
      'HALYARD_SECRET_KEY is not set: a copy of the database holds the plugin secrets and the key to them.',
    ),
  ]
}
