import type { Instant } from '../../instant.ts'
import type { Actor, User } from '../../tenancy.ts'
import type { ApiKey } from './api-key.ts'

export interface Account extends User {
  readonly passwordHash: string | null
  readonly isActive: boolean
  readonly currentOrganizationId: string | null
  readonly currentProjectId: number | null
  readonly dateJoined: Instant
}

export type NewAccount = Omit<Account, 'id'>

export type KeyPatch = {
  readonly [Field in 'label' | 'scopes' | 'projectIds' | 'organizationIds' | 'expiresAt']?: ApiKey[Field] | undefined
}

export interface IdentityStore {
  /** The person and the key behind a key's hash: not revoked, user active. Expiry is for the caller to judge. */
  findActor(keyHash: string): Promise<{ actor: Actor; key: ApiKey } | undefined>
  /** The same for the keys, made by hand, of the active members of an organization; by key id, at most `limit`. */
  listActors(organizationId: string, limit: number): Promise<readonly { actor: Actor; key: ApiKey }[]>
  /** Notes that the key was used. */
  touchKey(keyId: string, at: Instant): Promise<void>

  findAccount(userId: number): Promise<Account | undefined>
  findAccountByEmail(email: string): Promise<Account | undefined>
  findAccountByUuid(uuid: string): Promise<Account | undefined>
  /** Raises `invalid` (`unique`, `email`) when the e-mail is taken. */
  createAccount(account: NewAccount): Promise<Account>
  /** Raises `invalid` (`unique`, `email`) when the new e-mail is taken. */
  updateAccount(
    userId: number,
    fields: Partial<
      Pick<Account, 'firstName' | 'email' | 'passwordHash' | 'currentOrganizationId' | 'currentProjectId' | 'isActive'>
    >,
  ): Promise<void>
  countAccounts(): Promise<number>

  createKey(key: ApiKey): Promise<void>
  /** Writes what is sent; a field that is undefined keeps its stored value. */
  updateKey(keyId: string, patch: KeyPatch): Promise<void>
  /** Keys that were made by hand, newest first. */
  listKeys(userId: number): Promise<readonly ApiKey[]>
  findKey(userId: number, keyId: string): Promise<ApiKey | undefined>
  /** False when there was none. */
  removeKey(userId: number, keyId: string): Promise<boolean>
  /** Ends everything that was signed in or, with `all`, every key of the user. */
  removeKeys(userId: number, which: 'sessions' | 'all'): Promise<void>
  removeKeysExpiredBefore(at: Instant): Promise<number>
}
