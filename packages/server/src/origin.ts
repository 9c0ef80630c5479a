/** Where a write comes from, for the audit log. It travels with the author of the write. */
export interface Origin {
  /** `operationId` of the route, or the name of the job or command. */
  readonly operation: string
  /** What the path names; secrets in it are left out. */
  readonly path: Readonly<Record<string, string>>
  readonly credential: Credential | null
  readonly address: string | null
  readonly requestId: string | null
  /** Why, as the caller said it. */
  readonly note: string | null
  /** Set when a transaction has appended the entry of this request. */
  isRecorded: boolean
}

export interface Credential {
  readonly kind: 'session' | 'personal_api_key' | 'scim_token' | 'command_line' | 'none'
  readonly id: string | null
  readonly label: string | null
}

/** Work without a request. */
export const originOf = (operation: string, credential: Credential | null = null): Origin => ({
  operation,
  path: {},
  credential,
  address: null,
  requestId: null,
  note: null,
  isRecorded: false,
})
