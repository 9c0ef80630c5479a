import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Encrypts what must not be readable in the database or its copies. */
export interface SecretBox {
  /** `purpose` ties the text to its place: it cannot be opened for another one. */
  seal(text: string, purpose: string): string
  /** Throws when the key is another one, or the text was tampered with or moved. */
  open(sealed: string, purpose: string): string
}

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** The key may be any text; its SHA-256 is used, so that a passphrase and 32 random bytes both fit. */
export function createSecretBox(secretKey: string): SecretBox {
  const key = createHash('sha256').update(secretKey).digest()
  return {
    seal(text, purpose) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `v1:${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')}`
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed.replace(/^v1:/, ''), 'base64')
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
      return decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}

export const generateSecretKey = (): string => randomBytes(32).toString('base64')
