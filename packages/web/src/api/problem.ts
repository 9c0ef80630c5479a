import type { ProblemBody } from '@halyard/contract'

/** An error response of the server. `status` 0 means that the server could not be reached. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  /** The invalid field, if the error is about one. */
  readonly field: string | null

  constructor(status: number, body: Partial<ProblemBody>) {
    super(body.detail ?? `The server responded with status ${status}.`)
    this.status = status
    this.code = body.code ?? 'error'
    this.field = body.attr ?? null
  }
}

export const isProblem = (error: unknown): error is ApiProblem => error instanceof ApiProblem
