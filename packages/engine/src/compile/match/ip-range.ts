import { FALSE, TRUE } from '../../evaluate/ternary.ts'
import type { CompiledTest } from './value-test.ts'

/** An address with the length of its network prefix; a single address has the full length. */
interface IpRange {
  readonly bits: 32 | 128
  readonly address: bigint
  readonly prefix: number
}

export function cidrTest(target: unknown): CompiledTest {
  const ranges = (Array.isArray(target) ? (target as unknown[]) : [target]).map(parseIpRange)
  if (!ranges.every(range => range !== undefined)) {
    const message = 'Use IP addresses or ranges such as 10.0.0.0/8 or 2001:db8::/32.'
    return { test: () => FALSE, valueIssue: { code: 'invalid_value', message } }
  }
  return {
    test: value => {
      const candidate = parseIpRange(value)
      return candidate !== undefined && ranges.some(range => contains(range, candidate)) ? TRUE : FALSE
    },
  }
}

/** A property may itself be a range; it is contained when it is not wider, or starts at the same address. */
function contains(range: IpRange, candidate: IpRange): boolean {
  if (range.bits !== candidate.bits) return false
  if (range.address === candidate.address) return true
  const rest = BigInt(range.bits - range.prefix)
  return candidate.prefix >= range.prefix && range.address >> rest === candidate.address >> rest
}

const textLengthMax = 100

function parseIpRange(value: unknown): IpRange | undefined {
  if (typeof value !== 'string' || value.length > textLengthMax) return undefined
  const [, text, prefixText] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(value) ?? []
  if (text === undefined) return undefined
  const bits = text.includes(':') ? 128 : 32
  const address = bits === 32 ? parseIpv4(text) : parseIpv6(text)
  const prefix = prefixText === undefined ? bits : Number(prefixText)
  return address === undefined || prefix > bits ? undefined : { bits, address, prefix }
}

const octet = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = new RegExp(`^${octet}\\.${octet}\\.${octet}\\.${octet}$`)

/** A leading zero would mean octal to some systems, so it is invalid. */
function parseIpv4(text: string): bigint | undefined {
  const match = ipv4.exec(text)
  return match?.slice(1).reduce((address, part) => address * 256n + BigInt(part), 0n)
}

function parseIpv6(text: string): bigint | undefined {
  const halves = withoutIpv4(text.split('%', 1)[0]!)?.split('::')
  if (halves === undefined || halves.length > 2) return undefined
  const [head, tail] = halves.map(half => (half === '' ? [] : half.split(':')))
  const missing = 8 - head!.length - (tail?.length ?? 0)
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...head!, ...Array.from({ length: tail === undefined ? 0 : missing }, () => '0'), ...(tail ?? [])]
  if (!groups.every(group => /^[\da-f]{1,4}$/i.test(group))) return undefined
  return groups.reduce((address, group) => address * 0x10000n + BigInt(`0x${group}`), 0n)
}

/** The last 32 bits may be written as an IPv4 address. */
function withoutIpv4(text: string): string | undefined {
  if (!text.includes('.')) return text
  const at = text.lastIndexOf(':')
  const address = parseIpv4(text.slice(at + 1))
  if (address === undefined) return undefined
  return `${text.slice(0, at + 1)}${(address >> 16n).toString(16)}:${(address & 0xffffn).toString(16)}`
}
