import { isIP } from 'node:net'

/** Parsers of single settings. Each throws an Error whose message continues the sentence "VARIABLE …". */

export const text = (value: string): string => value

export const wholeNumber =
  (min: number, max: number) =>
  (value: string): number => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}`)
    return number
  }

export const oneOf =
  <const C extends readonly string[]>(...choices: C) =>
  (value: string): C[number] => {
    if (!choices.includes(value)) throw new Error(`must be one of ${choices.join(', ')}`)
    return value
  }

export function onOrOff(value: string): boolean {
  if (['1', 'true', 'on', 'yes'].includes(value.toLowerCase())) return true
  if (['0', 'false', 'off', 'no'].includes(value.toLowerCase())) return false
  throw new Error('must be 1 or 0')
}

export function bootstrapKey(value: string): string {
  if (/^phx_[0-9A-Za-z]{20,100}$/.test(value)) return value
  throw new Error('must be phx_ followed by 20 to 100 letters and digits')
}

export function personalKey(value: string): string {
  if (/^phx_\S+$/.test(value)) return value
  throw new Error('must be a personal API key, phx_…')
}

export function emailAddress(value: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(value.trim())) return value.trim()
  throw new Error('must be an email address')
}

const passwordCharactersMin = 8

export function ownerPassword(value: string): string {
  if (value.length >= passwordCharactersMin) return value
  throw new Error(`must have at least ${passwordCharactersMin} characters`)
}

const proxyNames = ['loopback', 'linklocal', 'uniquelocal']

/** What `trustProxy` of Fastify takes. */
export function trustProxy(value: string): boolean | number | string {
  if (value === 'true' || value === 'false') return value === 'true'
  if (/^\d+$/.test(value)) return Number(value)
  const wrong = value
    .split(',')
    .map(part => part.trim())
    .find(part => !proxyNames.includes(part) && !isAddressRange(part))
  if (wrong !== undefined)
    throw new Error(
      `must be true, false, a number of proxies, or IP addresses and CIDR ranges separated by commas; "${wrong}" is none of these`,
    )
  return value
}

function isAddressRange(value: string): boolean {
  const [address = '', bits, ...rest] = value.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

export function httpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return withoutTrailingSlashes(value)
  throw new Error('must be an http:// or https:// URL')
}

/** A loop, since a pattern that looks for the end is tried again at every slash. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end -= 1
  return url.slice(0, end)
}

export function smtpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if ((url?.protocol === 'smtp:' || url?.protocol === 'smtps:') && url.hostname !== '') return value
  throw new Error('must be an smtp:// or smtps:// URL')
}

export function secretKey(value: string): string {
  if (value.length >= 16) return value
  throw new Error('must have at least 16 characters, better 32 random bytes in base64')
}

/** IP addresses, each with an optional port. */
export function addresses(value: string): readonly string[] {
  const parts = value
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
  const wrong = parts.find(part => isIP(part) === 0 && !/^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\]):\d{1,5}$/i.test(part))
  if (wrong === undefined) return parts
  throw new Error(`must be IP addresses separated by commas; "${wrong}" is none`)
}

export const origins = (value: string): readonly string[] =>
  value
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(httpUrl)
