import { invalid } from '../../problem.ts'

const localPart = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i
const domainLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
const addressCharactersMax = 254
const localCharactersMax = 64

/**
 * ASCII only, so that two addresses that look alike are alike: no invisible, full-width or foreign-script characters.
 * International domains are written in Punycode.
 */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)]
  return (
    text.length <= addressCharactersMax &&
    local.length <= localCharactersMax &&
    localPart.test(local) &&
    domain.split('.').every(label => domainLabel.test(label))
  )
}

/** Raises `invalid` (`field`). */
export function checkedEmail(email: string, field: string): string {
  const trimmed = email.trim()
  if (isEmail(trimmed)) return trimmed
  const hint = /[^\x20-\x7e]/.test(trimmed) ? ' Use ASCII; write international domains in Punycode (xn--).' : ''
  throw invalid(field, 'invalid_input', `\`${field}\` must be a valid email address.${hint}`)
}
