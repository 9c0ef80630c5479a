import type { ProblemBody } from '@halyard/contract'

/** What the server answered instead of what was asked for. `status` 0 means that it could not be reached. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  /** The field at fault, if it is one. */
  readonly field: string | null

  constructor(status: number, body: Partial<ProblemBody>) {
    super(body.detail ?? `The server answered ${status}.`)
    this.status = status
    this.code = body.code ?? 'error'
    this.field = body.attr ?? null
  }
}

export const isProblem = (error: unknown): error is ApiProblem => error instanceof ApiProblem
