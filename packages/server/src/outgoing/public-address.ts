import { BlockList, isIPv4, isIPv6 } from 'node:net'

/**
 * Whether an address belongs to the public Internet. Everything else (this machine, its network, link-local metadata
 * services, multicast, documentation and tunnel ranges) is closed to targets that a user or a plugin chose.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !closedIPv4.check(address, 'ipv4')
  if (!isIPv6(address)) return false
  const embedded = embeddedIPv4(address)
  if (embedded) return isPublicAddress(embedded)
  return openIPv6.check(address, 'ipv6') && !closedIPv6.check(address, 'ipv6')
}

const closedIPv4 = blockList('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])

/** Only this range is handed out as global unicast; what lies outside of it is special in one way or another. */
const openIPv6 = blockList('ipv6', ['2000::/3'])

/** Inside it: Teredo and the other protocol assignments, documentation, and 6to4, which carries any IPv4 address. */
const closedIPv6 = blockList('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

function blockList(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network, prefix] = range.split('/')
    list.addSubnet(network!, Number(prefix), family)
  }
  return list
}

/** The IPv4 address inside an IPv4-mapped IPv6 address (`::ffff:a.b.c.d` in any spelling). */
function embeddedIPv4(address: string): string | undefined {
  const groups = expand(address)
  const isMapped = groups.slice(0, 5).every(group => group === 0) && groups[5] === 0xffff
  if (!isMapped) return undefined
  const [high, low] = [groups[6]!, groups[7]!]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function expand(address: string): number[] {
  const [withoutZone] = address.split('%')
  const hexadecimal = withoutZone!.replace(
    /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/,
    (_all, ...parts: string[]) => {
      const [a, b, c, d] = parts.slice(0, 4).map(Number) as [number, number, number, number]
      return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
    },
  )
  const [head, tail] = hexadecimal.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...zeros, ...right].map(group => Number.parseInt(group, 16))
}
