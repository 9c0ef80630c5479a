import { timingSafeEqual } from 'node:crypto'
import { isOneLine } from '../../../http/routes/one-line.ts'
import type { Instant } from '../../../instant.ts'
import type { MainDatabase, Stores } from '../../../stores.ts'
import type { Account } from '../account.ts'
import { announceIdentity } from '../announce-identity.ts'
import { isEmail } from '../email.ts'
import { hashSecret, newSecret } from '../secret.ts'
import type { Passwords } from '../sign-in/password.ts'
import type { BootstrapOptions, FirstOwner } from './first-owner.ts'

/** What a first start generated and no one has used yet. Null where the operator chose the value. */
export interface PendingCredentials {
  readonly email: string
  readonly password: string | null
  readonly key: string | null
  /** Opens the setup page once; null when the operator chose the password. */
  readonly setupToken: string | null
  readonly projectId: number
  readonly projectToken: string
}

interface Stored extends PendingCredentials {
  readonly userId: number
  readonly keyId: string
  readonly passwordHash: string
}

/** What the first person enters. */
export interface SetUpFields {
  readonly firstName: string
  readonly email: string
  readonly password: string
  readonly projectName: string
}

export type SetUpField = 'first_name' | 'email' | 'password' | 'project'

/** Encrypts the credentials at rest. */
interface Cipher {
  seal(text: string, purpose: string): string
  open(sealed: string, purpose: string): string
}

/** Generated credentials, stored encrypted until they are first used, so that a start that fails half-way loses nothing. */
export interface FirstCredentials {
  /** Part of the transaction that creates the owner. */
  store(tx: Stores, owner: FirstOwner, chosen: BootstrapOptions): Promise<void>
  /** Undefined once someone has signed in, used the generated key or changed the password: then they are deleted as well. */
  find(): Promise<PendingCredentials | undefined>
  /**
   * Names the owner and the first project and sets the password, once; `onDone` is part of the transaction. Undefined for a wrong or used
   * token.
   */
  setUp<T>(
    setupToken: string,
    chosen: SetUpFields,
    now: Instant,
    onDone: (tx: Stores, owner: Account) => Promise<T>,
  ): Promise<{ readonly done: T } | { readonly wrong: readonly SetUpField[] } | undefined>
}

const instanceName = 'first_credentials'
const purpose = 'first credentials'
const passwordCharactersMin = 8
const passwordCharactersMax = 1000
const nameCharactersMax = 150
const projectNameCharactersMax = 64

export function createFirstCredentials(database: MainDatabase, passwords: Passwords, cipher: Cipher): FirstCredentials {
  async function findStored(): Promise<Stored | undefined> {
    const sealed = await database.read(tx => tx.instance.find(instanceName))
    if (sealed === undefined) return undefined
    const stored = decrypt(cipher, sealed)
    if (stored && !(await database.read(tx => isUsed(tx, stored)))) return stored
    await database.transaction(forgetFirstCredentials)
    return undefined
  }

  return {
    async store(tx, owner, chosen) {
      if (chosen.password !== undefined && chosen.key !== undefined) return
      const stored: Stored = {
        ...owner,
        password: chosen.password === undefined ? owner.password : null,
        key: chosen.key === undefined ? owner.key : null,
        setupToken: chosen.password === undefined ? newSecret('') : null,
      }
      await tx.instance.findOrCreate(instanceName, cipher.seal(JSON.stringify(stored), purpose))
    },

    async find() {
      const stored = await findStored()
      if (!stored) return undefined
      const { email, password, key, setupToken, projectId, projectToken } = stored
      return { email, password, key, setupToken, projectId, projectToken }
    },

    async setUp(setupToken, chosen, now, onDone) {
      const stored = await findStored()
      if (!stored?.setupToken || !isEqual(setupToken, stored.setupToken)) return undefined
      const wrong = wrongFields(chosen)
      if (wrong.length > 0) return { wrong }
      const { firstName, email, password, projectName } = chosen
      const passwordHash = await passwords.hash(password)
      return database.transaction(async tx => {
        // Another request may have used the token meanwhile.
        if ((await tx.instance.find(instanceName)) === undefined) return undefined
        await tx.identity.updateAccount(stored.userId, { firstName, email, passwordHash })
        await tx.projects.update(stored.projectId, { name: projectName, updatedAt: now })
        await forgetFirstCredentials(tx)
        // Nodes drop what they hold of the owner and of the project.
        await announceIdentity(tx, stored.userId, now)
        const owner = await tx.identity.findAccount(stored.userId)
        return owner && { done: await onDone(tx, owner) }
      })
    },
  }
}

/** All of them, in the order of the form. */
function wrongFields({ firstName, email, password, projectName }: SetUpFields): readonly SetUpField[] {
  const isName = (text: string, charactersMax: number) => text !== '' && text.length <= charactersMax && isOneLine(text)
  const checks: readonly [SetUpField, boolean][] = [
    ['first_name', isName(firstName, nameCharactersMax)],
    ['email', isEmail(email)],
    ['password', password.length >= passwordCharactersMin && password.length <= passwordCharactersMax],
    ['project', isName(projectName, projectNameCharactersMax)],
  ]
  return checks.filter(([, isRight]) => !isRight).map(([field]) => field)
}

export const forgetFirstCredentials = (tx: Stores): Promise<void> => tx.instance.remove(instanceName)

/** Undefined when they were encrypted with another key. */
function decrypt(cipher: Cipher, sealed: string): Stored | undefined {
  try {
    return JSON.parse(cipher.open(sealed, purpose)) as Stored
  } catch {
    return undefined
  }
}

/** A sign-in deletes the credentials itself. A key that the operator chose proves nothing: scripts use it before anyone signs in. */
async function isUsed(tx: Stores, { userId, keyId, key, passwordHash }: Stored): Promise<boolean> {
  const account = await tx.identity.findAccount(userId)
  if (account?.passwordHash !== passwordHash) return true
  if (key === null) return false
  const stored = await tx.identity.findKey(userId, keyId)
  return !stored || stored.lastUsedAt !== null
}

const isEqual = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(hashSecret(a)), Buffer.from(hashSecret(b)))
