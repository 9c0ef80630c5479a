/** Rows of sign-ins. */
export interface IdentityTables {
  sign_ins: SignInRow
}

export interface SignInRow {
  id: string
  user_id: number
  refresh_hash: string | null
  user_agent: string
  address: string
  created_at: string
  expires_at: string
}
