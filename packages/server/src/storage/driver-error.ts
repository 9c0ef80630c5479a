import { invalid, Problem } from '../problem.ts'

/** Drivers report in their own words; this is the one place that understands them. */

/** The name of the unique constraint or its columns, when that is what an error is about. */
export function uniqueViolation(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, constraint } = error as Error & { code?: string; constraint?: string }
  if (code === '23505') return constraint ?? ''
  return /UNIQUE constraint failed: (.*)/.exec(error.message)?.[1]
}

/** What to raise for a write that failed: `invalid` (`unique`) when the value is somebody else's, else the error itself. */
export const alreadyTaken = (error: unknown, field: string, message: string): unknown =>
  uniqueViolation(error) === undefined ? error : invalid(field, 'unique', message)

const retryablePostgresCodes = new Set(['40001', '40P01'])

/** The transaction can simply be tried again: it lost a race that PostgreSQL noticed. SQLite's writers wait in the driver. */
export const isRaceLost = (error: unknown): boolean =>
  error instanceof Error && (retryablePostgresCodes.has((error as { code?: string }).code ?? '') || isNameLost(error))

/**
 * The server does not know a statement by the name that it was given, knows it already, or would not answer as it did when it was named: there
 * is a pooler that lends us another connection for each transaction, or somebody has changed a table. It runs without its name.
 */
export function isNameLost(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown }
  return code === '26000' || code === '42P05' || (code === '0A000' && routine === 'RevalidateCachedQuery')
}

/** 25006: a primary that has become read-only, as after a failover; the next connection may find the new one. */
const awayPostgresCodes = /^(08|53|57|58|25006)|^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN)/
const awayMessages =
  /terminating connection|Connection terminated|not queryable|Query read timeout|Connection ended|server closed the connection|timeout exceeded when trying to connect|timeout expired|database or disk is full|disk I\/O error|attempt to write a readonly database|readonly database|unable to open database|database is locked|database schema is locked|malformed|not a database/i

/** The database cannot be used now, through no fault of the request. */
export const isDatabaseAway = (error: unknown): boolean =>
  error instanceof Error &&
  (awayPostgresCodes.test(String((error as { code?: unknown }).code ?? '')) || awayMessages.test(error.message))

/** Numbers beyond what a column holds, and text that PostgreSQL does not take, such as NUL. */
const unstorableCodes = new Set(['22001', '22003', '22021', '22P02', '22P05'])

const isUnstorable = (error: unknown): boolean =>
  error instanceof Error && unstorableCodes.has((error as { code?: string }).code ?? '')

/** `isCommitting`: the answer to a commit was lost, so nobody can know whether it happened. */
export function databaseProblem(error: unknown, isCommitting = false): unknown {
  if (error instanceof Problem) return error
  if (isUnstorable(error)) {
    return new Problem('invalid', 'A number or text in this request is outside of what can be stored.', {
      cause: error,
    })
  }
  if (!isDatabaseAway(error)) return error
  const message = isCommitting
    ? 'The database was lost while it saved. Look whether the change is there before you repeat it.'
    : 'The database cannot be reached right now; nothing was changed. Try again.'
  return new Problem('unavailable', message, { cause: error, retryAfterSeconds: 1 })
}
