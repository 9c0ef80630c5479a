/** What the operator has chosen; everything else is generated. */
export interface BootstrapOptions {
  readonly email: string
  readonly password: string | undefined
  readonly key: string | undefined
}

export interface FirstOwner {
  readonly userId: number
  readonly keyId: string
  readonly passwordHash: string
  readonly email: string
  readonly password: string
  readonly key: string
  readonly projectId: number
  readonly projectToken: string
}
