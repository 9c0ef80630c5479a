import type { Instant } from '../../instant.ts'
import type { Actor, User } from '../../tenancy.ts'
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

export type NewAccount = Omit<Account, 'id' | 'hasRequestEmails' | 'language'>

export type KeyPatch = {
  readonly [Field in 'label' | 'scopes' | 'projectIds' | 'organizationIds' | 'expiresAt']?: ApiKey[Field] | undefined
}

export interface IdentityStore {
  /** The user and the key behind a key's hash: not revoked, user active. The caller checks the expiry. */
  findActor(keyHash: string): Promise<{ actor: Actor; key: ApiKey } | undefined>
  /** The same for the API keys (no sign-ins) of the active members of an organization; by key id, at most `limit`. */
  listActors(organizationId: string, limit: number): Promise<readonly { actor: Actor; key: ApiKey }[]>
  /** Records that the key was used. */
  touchKey(keyId: string, at: Instant): Promise<void>

  findAccount(userId: number): Promise<Account | undefined>
  /** Active accounts that want emails about change requests, by id. */
  listEmailRecipients(userIds: readonly number[], limit: number): Promise<readonly EmailRecipient[]>
  findAccountByEmail(email: string): Promise<Account | undefined>
  findAccountByUuid(uuid: string): Promise<Account | undefined>
  /** Raises `invalid` (`unique`, `email`) when the email address is taken. */
  createAccount(account: NewAccount): Promise<Account>
  /** Raises `invalid` (`unique`, `email`) when the new email address is taken. */
  updateAccount(
    userId: number,
    fields: Partial<
      Pick<
        Account,
        | 'firstName'
        | 'email'
        | 'isEmailVerified'
        | 'passwordHash'
        | 'currentOrganizationId'
        | 'currentProjectId'
        | 'isActive'
        | 'isStaff'
        | 'hasRequestEmails'
        | 'language'
      >
    >,
  ): Promise<void>
  countAccounts(): Promise<number>

  createKey(key: ApiKey): Promise<void>
  /** Writes what is sent; a field that is undefined keeps its stored value. */
  updateKey(keyId: string, patch: KeyPatch): Promise<void>
  /** API keys without sign-ins, newest first. */
  listKeys(userId: number): Promise<readonly ApiKey[]>
  findKey(userId: number, keyId: string): Promise<ApiKey | undefined>
  /** False when there was none. */
  removeKey(userId: number, keyId: string): Promise<boolean>
  /** Revokes the sign-ins of the user or, with `all`, every key. */
  removeKeys(userId: number, which: 'sessions' | 'all'): Promise<void>
  removeKeysExpiredBefore(at: Instant): Promise<number>
}
