import type { Instant } from '../../instant.ts'
import type { User } from '../../tenancy.ts'
import type { ApiKey } from './api-key.ts'

export interface Account extends User {
  readonly passwordHash: string | null
  readonly isActive: boolean
  readonly isStaff: boolean
  readonly currentOrganizationId: string | null
  readonly currentProjectId: number | null
  readonly dateJoined: Instant
  /** Whether they get emails about change requests. */
  readonly hasRequestEmails: boolean
  /** Of their emails; null for English. */
  readonly language: UserLanguage | null
}

export type UserLanguage = 'en' | 'de'

export type EmailRecipient = Pick<Account, 'email' | 'language'>

export type NewAccount = Omit<Account, 'id' | 'hasRequestEmails' | 'language'> & { readonly isService?: boolean }

export type KeyPatch = {
  readonly [Field in 'label' | 'scopes' | 'projectIds' | 'organizationIds' | 'expiresAt']?: ApiKey[Field] | undefined
}
