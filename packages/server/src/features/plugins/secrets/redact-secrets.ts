import { secretMask } from '../package/config-values.ts'

/** Shorter secrets are too likely to be part of ordinary text. */
const secretCharactersMin = 4

/** Replaces secrets in texts that a plugin writes: its log lines and its errors. */
export interface SecretRedactor {
  /** From now on these values, and all texts inside them, are replaced. */
  learn(secrets: Readonly<Record<string, unknown>>): void
  redact(text: string): string
}

export function createSecretRedactor(): SecretRedactor {
  let secretTexts: readonly string[] = []
  return {
    learn(secrets) {
      const texts = Object.values(secrets).flatMap(textsOf)
      // Longest first, because one secret may be part of another.
      secretTexts = [...new Set([...secretTexts, ...texts])]
        .filter(text => text.length >= secretCharactersMin)
        .sort((a, b) => b.length - a.length)
    },
    redact: text => secretTexts.reduce((redacted, secret) => redacted.replaceAll(secret, secretMask), text),
  }
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...textsOfJson(value)]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

/** A setting of type JSON may be stored as the text of an object. */
function textsOfJson(text: string): string[] {
  if (!/^\s*[[{]/.test(text)) return []
  try {
    return textsOf(JSON.parse(text))
  } catch {
    return []
  }
}
