import { invalid, Problem } from '../problem.ts'

/** The one place that interprets the errors of the drivers. */

/** The name of the unique constraint or its columns, when that is what an error is about. */
export function uniqueViolation(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, constraint } = error as Error & { code?: string; constraint?: string }
  if (code === '23505') return constraint ?? ''
  return /UNIQUE constraint failed: (.*)/.exec(error.message)?.[1]
}

/** A row breaks a constraint, or holds what a column cannot: PostgreSQL's classes 22 and 23. */
export const isRowRefused = (error: unknown): error is Error =>
  error instanceof Error &&
  (/^2[23]/.test(String((error as { code?: unknown }).code)) || /constraint failed/.test(error.message))

/** A reference to a row that does not exist. */
export const isReferenceBroken = (error: unknown): boolean =>
  error instanceof Error &&
  ((error as { code?: unknown }).code === '23503' || /FOREIGN KEY constraint failed/.test(error.message))

/** What to raise for a write that failed: `invalid` (`unique`) when another row has the value, else the error itself. */
export const alreadyTaken = (error: unknown, field: string, message: string): unknown =>
  uniqueViolation(error) === undefined ? error : invalid(field, 'unique', message)

/** Reads no row from a database that was not migrated yet. Other errors are raised. */
export function ifTableExists(error: unknown): undefined {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (code !== '42P01' && !/^no such table/.test(String(message))) throw error
}

const retryablePostgresCodes = new Set(['40001', '40P01'])

/** The transaction can be retried: PostgreSQL reported a serialization failure or a deadlock. SQLite's writers wait in the driver. */
export const isRaceLost = (error: unknown): boolean =>
  error instanceof Error && (retryablePostgresCodes.has((error as { code?: string }).code ?? '') || isNameLost(error))

const lockRefusedCodes = new Set(['40P01', '55P03'])

/** PostgreSQL gave up waiting for a lock: a deadlock, or `lock_timeout` has passed. */
export const isLockRefused = (error: unknown): boolean =>
  error instanceof Error && lockRefusedCodes.has((error as { code?: string }).code ?? '')

/**
 * A prepared statement is missing, exists already, or was prepared for another schema: a pooler assigns another connection to each
 * transaction, or a table was altered. The statement then runs without its name.
 */
export function isNameLost(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as { code?: unknown; routine?: unknown }
  return code === '26000' || code === '42P05' || (code === '0A000' && routine === 'RevalidateCachedQuery')
}

/** Why the database cannot serve a request that is right. */
export type OutageKind = 'timeout' | 'disk_full' | 'disk_error' | 'read_only' | 'unavailable'

const statementTimeoutCode = '57014'
const postgresDiskFullCode = '53100'
/** 25006: a primary that has become read-only, as after a failover; the next connection may find the new one. */
const unavailableCodes = /^(08|53|57|58|25006)|^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN)/
const unavailableMessages =
  /terminating connection|Connection terminated|not queryable|Query read timeout|Connection ended|server closed the connection|timeout exceeded when trying to connect|timeout expired/i

/**
 * By the primary result code of SQLite, in the low byte of what it reports: busy, locked, read-only, I/O error, corrupt, full, cannot open,
 * not a database. A file system that became read-only is an I/O error for a file that is open.
 */
const sqliteOutages: Readonly<Record<number, OutageKind>> = {
  5: 'unavailable',
  6: 'unavailable',
  8: 'read_only',
  10: 'disk_error',
  11: 'unavailable',
  13: 'disk_full',
  14: 'unavailable',
  26: 'unavailable',
}

/** Without its result code, as when the error comes from another thread. */
const sqliteMessages: readonly (readonly [RegExp, OutageKind])[] = [
  [/readonly database/, 'read_only'],
  [/disk I\/O error/, 'disk_error'],
  [/unable to open database|database is locked|database disk image is malformed|not a database/, 'unavailable'],
]

const sqliteCodeOf = (error: Error): number | undefined => {
  const { errcode } = error as Error & { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}

/** Undefined for errors that are not the database's fault. */
export function outageKind(error: unknown): OutageKind | undefined {
  if (!(error instanceof Error)) return undefined
  const sqliteCode = sqliteCodeOf(error)
  if (sqliteCode !== undefined) return sqliteOutages[sqliteCode]
  const code = String((error as { code?: unknown }).code ?? '')
  if (code === 'ERR_SQLITE_ERROR') return sqliteMessages.find(([pattern]) => pattern.test(error.message))?.[1]
  if (code === statementTimeoutCode) return 'timeout'
  if (code === postgresDiskFullCode) return 'disk_full'
  return unavailableCodes.test(code) || unavailableMessages.test(error.message) ? 'unavailable' : undefined
}

/** The database cannot do its work: the connection is of no further use, there is none, or its disk fails. */
export const isDatabaseAway = (error: unknown): boolean =>
  ['unavailable', 'read_only', 'disk_error'].includes(outageKind(error) ?? '')

/** Numbers beyond what a column holds, and text that PostgreSQL does not take, such as NUL. */
const unstorableCodes = new Set(['22001', '22003', '22021', '22P02', '22P05'])

const isUnstorable = (error: unknown): boolean =>
  error instanceof Error && unstorableCodes.has((error as { code?: string }).code ?? '')

const errorsOfPersons = new WeakSet<object>()

/** Notes that the database of persons raised the error, and not the main one. */
export function ofPersons(error: unknown): unknown {
  if (typeof error === 'object' && error !== null) errorsOfPersons.add(error)
  return error
}

export const isOfPersons = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && errorsOfPersons.has(error)

/** `isCommitting`: the response to a commit was lost, so its outcome is unknown. An error that the database itself reports is certain. */
export function databaseProblem(error: unknown, isCommitting = false): unknown {
  if (error instanceof Problem) return error
  if (isUnstorable(error)) {
    return new Problem('invalid', 'A number or text in this request is outside of what can be stored.', {
      cause: error,
    })
  }
  if (uniqueViolation(error) !== undefined) {
    const message = 'Another request has saved the same at the same time; nothing was changed. Try again.'
    return new Problem('conflict', message, { cause: error })
  }
  if (isReferenceBroken(error)) {
    const message = 'What this request refers to was deleted at the same time; nothing was changed. Try again.'
    return new Problem('conflict', message, { cause: error })
  }
  const kind = outageKind(error)
  if (kind === undefined) return error
  const isUncertain = kind === 'unavailable' && isCommitting && sqliteCodeOf(error as Error) === undefined
  const { message, code } = isUncertain ? uncertain : outages[kind]
  const text = isOfPersons(error) ? message.replaceAll(' database', ' persons database') : message
  return new Problem('unavailable', text, { code, cause: error, retryAfterSeconds: 1 })
}

const outages = {
  timeout: { code: 'timeout', message: 'The database took too long; nothing was changed. Try again.' },
  disk_full: { code: 'disk_full', message: 'The disk is full; nothing was changed.' },
  disk_error: { code: 'disk_error', message: 'The disk of the database fails; nothing was changed. Check the disk.' },
  read_only: { code: 'read_only', message: 'The database is read-only; nothing was changed. Make its disk writable.' },
  unavailable: {
    code: 'unavailable',
    message: 'The database cannot be reached right now; nothing was changed. Try again.',
  },
} as const

const uncertain = {
  code: 'unavailable',
  message: 'The connection to the database was lost during the save. Check the outcome before you try again.',
} as const
