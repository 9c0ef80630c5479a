import type { ProblemBody } from '@halyard/contract'
import { Problem, type ProblemKind } from '../../problem.ts'

/** The one table from kind to status. A kind without a row does not compile. */
export const problemTable: Record<ProblemKind, { status: number; type: string; code: string }> = {
  invalid: { status: 400, type: 'validation_error', code: 'invalid_input' },
  unparsable: { status: 400, type: 'invalid_request', code: 'parse_error' },
  unauthenticated: { status: 401, type: 'authentication_error', code: 'authentication_failed' },
  forbidden: { status: 403, type: 'authentication_error', code: 'permission_denied' },
  missing: { status: 404, type: 'invalid_request', code: 'not_found' },
  method_not_allowed: { status: 405, type: 'invalid_request', code: 'method_not_allowed' },
  conflict: { status: 409, type: 'server_error', code: 'conflict' },
  approval_required: { status: 409, type: 'approval_required', code: 'approval_required' },
  too_large: { status: 413, type: 'invalid_request', code: 'request_too_large' },
  unsupported_media: { status: 415, type: 'invalid_request', code: 'unsupported_media_type' },
  throttled: { status: 429, type: 'throttled_error', code: 'throttled' },
  unavailable: { status: 503, type: 'server_error', code: 'unavailable' },
}

export interface ProblemResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ProblemBody
}

const unexpected: ProblemResponse = {
  status: 500,
  headers: {},
  body: {
    type: 'server_error',
    code: 'error',
    detail: 'Internal server error. The log has the details under the X-Request-Id of this response.',
    attr: null,
  },
}

/** Anything but a Problem is a bug: its detail goes to the log, never to the client. */
export function problemResponse(error: unknown): ProblemResponse {
  const problem = error instanceof Problem ? error : frameworkProblem(error)
  if (!problem) return unexpected
  const { status, type, code } = problemTable[problem.kind]
  return {
    status,
    headers: {
      ...(problem.kind === 'unauthenticated' && { 'www-authenticate': 'Bearer' }),
      ...(problem.retryAfterSeconds !== undefined && { 'retry-after': String(problem.retryAfterSeconds) }),
      ...(problem.allow && { allow: problem.allow.join(', ') }),
    },
    body: { type, code: problem.code ?? code, detail: problem.message, attr: problem.field, ...problem.extra },
  }
}

/** What Fastify itself raises before a handler runs. */
function frameworkProblem(error: unknown): Problem | undefined {
  const { statusCode, code } = (error ?? {}) as { statusCode?: number; code?: string }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || statusCode === 413) {
    return new Problem('too_large', 'The request body is larger than this server accepts.')
  }
  if (statusCode === 414 || code === 'FST_ERR_BAD_URL') return new Problem('missing', 'No resource exists at this URL.')
  if (statusCode === 415) return new Problem('unsupported_media', 'Send the body as application/json.')
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new Problem('unparsable', 'The request is malformed.')
  }
  return undefined
}
