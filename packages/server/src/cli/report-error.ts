import { ConfigError } from '../config.ts'
import { ExplainedError } from '../problem.ts'
import { isOfPersons } from '../storage/driver-error.ts'
import { exitCodes, UsageError } from './usage.ts'

/** Ends the process with a message. What the user can fix gets one sentence; a bug gets its stack trace. */
export function reportError(error: unknown): void {
  console.error(isExplained(error) ? `halyard: ${explain(error)}` : error)
  process.exitCode = exitCodeOf(error)
  // The channel to a supervisor would keep this process alive.
  if (process.connected) process.exit()
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigError) return exitCodes.configuration
  return error instanceof UsageError ? exitCodes.usage : exitCodes.failure
}

const isExplained = (error: unknown): error is Error & { code?: unknown; port?: unknown } =>
  error instanceof ExplainedError ||
  isWithoutTls(error) ||
  (error instanceof Error && typeof (error as { code?: unknown }).code === 'string')

/** The driver gives it no code. */
const isWithoutTls = (error: unknown): boolean =>
  error instanceof Error && error.message === 'The server does not support SSL connections'

function explain(error: Error & { code?: unknown; port?: unknown; address?: unknown; syscall?: unknown }): string {
  const place = `${error.address ?? 'the host'}:${error.port ?? ''}`
  if (error.code === 'EADDRINUSE')
    return `Port ${error.port} is in use, perhaps by another Halyard. Stop it, or set PORT (or --port) to another port.`
  if (error.code === 'EACCES' && error.syscall === 'listen')
    return `This user is not allowed to listen on ${place}. Set PORT (or --port) to 1024 or higher.`
  if (error.code === 'EADDRNOTAVAIL')
    return `${error.address ?? 'HOST'} is not an address of this machine. Set HOST (or --host) to 127.0.0.1, or 0.0.0.0 for all addresses.`
  if (error.code === 'ENOTFOUND' && error.syscall === 'getaddrinfo')
    return `The host name cannot be resolved (${error.message}). Check ${isOfPersons(error) ? 'PERSONS_DATABASE_URL' : 'HOST and DATABASE_URL'}.`
  if (isOfPersons(error)) return `The persons database: ${error.message}. Check PERSONS_DATABASE_URL.`
  if (isWithoutTls(error)) return `${error.message}. Check sslmode in DATABASE_URL, or PGSSLMODE.`
  if (error.code === '28P01' || error.code === '28000' || error.code === '3D000')
    return `PostgreSQL refuses the connection: ${error.message}. Check DATABASE_URL (or PGUSER, PGPASSWORD and PGDATABASE).`
  return error.message
}
