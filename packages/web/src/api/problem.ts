import type { ProblemBody } from '@halyard/contract'

/** The change request that was opened instead of a change. */
export interface OpenedRequest {
  readonly id: number
  readonly title: string
  readonly state: string
}

interface OpenedRequests {
  readonly environments?: readonly string[]
  readonly change_request?: OpenedRequest
  readonly change_requests?: readonly number[]
}

/** An error response of the server. `status` 0 means that the server could not be reached. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string
  /** The invalid field, if the error is about one. */
  readonly field: string | null
  /** Set when the change needs approval and was requested instead. */
  readonly changeRequest: OpenedRequest | undefined
  /** The same for several changes. */
  readonly changeRequestIds: readonly number[]

  /** The environments of an imported file, when one has to be chosen. */
  readonly environments: readonly string[]

  constructor(status: number, body: Partial<ProblemBody> & OpenedRequests) {
    super(body.detail ?? `The server responded with status ${status}.`)
    this.status = status
    this.code = body.code ?? 'error'
    this.field = body.attr ?? null
    this.changeRequest = body.change_request
    this.changeRequestIds = body.change_requests ?? []
    this.environments = body.environments ?? []
  }
}

export const isProblem = (error: unknown): error is ApiProblem => error instanceof ApiProblem
