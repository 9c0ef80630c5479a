import { gunzipSync } from 'node:zlib'
import { isTooDeep } from '../http/routes/check-body.ts'
import { isForm, isGzip, type SdkBody, unpackAtOnceBytesMax } from '../http/sdk-body/sdk-body.ts'

/** No body that is read at once has more bytes, unpacked. */
export const syncBodyBytesMax = 64 * 1024

const openBrace = 0x7b
const formStart = 'data='
/** A form says a plus sign as it is or in hexadecimal digits. */
const base64 = /^[\w+/=-]*$/

/**
 * Reads the small bodies that client libraries send all day, without waiting for anything: a JSON object, plain or packed by gzip, by itself
 * or in base64 in a form. It is `bytes` from `from` to `to`. Undefined means that `readSdkBody` shall read it, or say what is wrong; what is read
 * here, that one reads alike.
 */
export function readBodySync(bytes: Buffer, from: number, to: number, said: Omit<SdkBody, 'bytes'>): unknown {
  const { contentEncoding } = said
  if (contentEncoding !== undefined && contentEncoding !== 'gzip') return undefined
  try {
    const text = bytes[from] === openBrace ? bytes.toString('utf8', from, to) : textWithin(bytes.subarray(from, to))
    if (text === undefined || (isForm(said) && text.includes('&data='))) return undefined
    const value: unknown = JSON.parse(text)
    return isTooDeep(value) ? undefined : value
  } catch {
    return undefined
  }
}

/** The text of an object that is packed in some way. */
function textWithin(bytes: Buffer): string | undefined {
  const outer = unpacked(bytes)
  const inner = outer?.[0] === openBrace ? outer : unpacked(outer && fromForm(outer))
  return inner?.[0] === openBrace ? inner.toString('utf8') : undefined
}

function unpacked(bytes: Buffer | undefined): Buffer | undefined {
  if (bytes === undefined || !isGzip(bytes)) return bytes
  return bytes.length <= unpackAtOnceBytesMax ? gunzipSync(bytes, { maxOutputLength: syncBodyBytesMax }) : undefined
}

/** The one field of a form, when it is nothing but base64. */
function fromForm(bytes: Buffer): Buffer | undefined {
  const text = bytes.toString('latin1')
  if (!text.startsWith(formStart)) return undefined
  const sent = text.slice(formStart.length)
  const field = sent.includes('%') ? decodeURIComponent(sent) : sent
  return base64.test(field) ? Buffer.from(field, 'base64') : undefined
}
