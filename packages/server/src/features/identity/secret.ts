import { hash, randomBytes, randomUUID } from 'node:crypto'

/** Keys and tokens: how they are generated, stored and shown. */

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
const secretCharacters = 43

export type SecretPrefix = 'phx_' | 'phc_' | 'phs_' | 'scim_' | 'whsec_'

/** 43 base-62 characters: 256 random bits. */
export function newSecret(prefix: SecretPrefix | ''): string {
  let text = ''
  while (text.length < secretCharacters) {
    // Bytes from 248 up are dropped so that every character is equally likely.
    for (const byte of randomBytes(64)) {
      if (byte < 248 && text.length < secretCharacters) text += alphabet[byte % 62]
    }
  }
  return prefix + text
}

/** Keys are long and random, so a fast hash is enough, and looking one up by its hash leaks no timing about the key. */
export const hashSecret = (secret: string): string => hash('sha256', secret)

export const maskSecret = (secret: string): string => `${secret.slice(0, 4)}...${secret.slice(-4)}`

export const newId = (): string => newSecret('').slice(0, 22)

/** A UUID whose first 48 bits are the time, so that rows created together lie together. */
export function newUuid(): string {
  const hex = Date.now().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${randomUUID().slice(15)}`
}
