import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Builds databases in MaxMind's format (version 2.0) for tests: IPv4 networks in an IPv4 or IPv6 tree. */

export type MmdbValue = string | number | boolean | readonly MmdbValue[] | { readonly [key: string]: MmdbValue }

export interface MmdbOptions {
  readonly databaseType?: string
  readonly ipVersion?: 4 | 6
}

const types = { text: 2, double: 3, uint32: 6, map: 7, array: 11, boolean: 14 }
const recordBits = 24
const separatorBytes = 16

/** `networks` in CIDR notation, such as `89.160.20.0/24`; they must not overlap. */
export function makeMmdb(
  networks: Readonly<Record<string, MmdbValue>>,
  { databaseType = 'Test-City', ipVersion = 6 }: MmdbOptions = {},
): Buffer {
  const tree: Tree = [[undefined, undefined]]
  const data: Buffer[] = []
  let dataBytes = 0
  for (const [network, value] of Object.entries(networks)) {
    const encoded = encode(value)
    insert(tree, bitsOf(network, ipVersion), dataBytes)
    data.push(encoded)
    dataBytes += encoded.length
  }
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: databaseType,
    description: { en: 'For tests' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: tree.length,
    record_size: recordBits,
  })
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([writeTree(tree), Buffer.alloc(separatorBytes), ...data, marker, metadata])
}

/** Writes the database to a temporary file. */
export function writeMmdb(...database: Parameters<typeof makeMmdb>): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-mmdb-'))
  const path = join(folder, 'city.mmdb')
  writeFileSync(path, makeMmdb(...database))
  return { path, remove: () => rmSync(folder, { recursive: true }) }
}

/** IPv4 addresses are the last 32 bits of an IPv6 tree. */
function bitsOf(network: string, ipVersion: 4 | 6): number[] {
  const [address = '', prefixLength] = network.split('/')
  const bits = address.split('.').map(part => Number(part).toString(2).padStart(8, '0'))
  const prefix = bits.join('').slice(0, Number(prefixLength))
  return [...(ipVersion === 6 ? '0'.repeat(96) : ''), ...prefix].map(Number)
}

type TreeRecord = { readonly node: number } | { readonly dataAt: number } | undefined
type Tree = [TreeRecord, TreeRecord][]

function insert(tree: Tree, bits: readonly number[], dataAt: number): void {
  let node = 0
  for (const bit of bits.slice(0, -1)) node = childOf(tree, node, bit)
  tree[node]![bits.at(-1)!] = { dataAt }
}

function childOf(tree: Tree, node: number, bit: number): number {
  const found = tree[node]![bit]
  if (found && 'node' in found) return found.node
  const created = tree.push([undefined, undefined]) - 1
  tree[node]![bit] = { node: created }
  return created
}

function writeTree(tree: Tree): Buffer {
  const pointerOf = (record: TreeRecord) => {
    if (!record) return tree.length
    return 'node' in record ? record.node : tree.length + separatorBytes + record.dataAt
  }
  const recordBytes = recordBits / 8
  const bytes = Buffer.alloc(tree.length * 2 * recordBytes)
  for (const [index, record] of tree.flat().entries())
    bytes.writeUIntBE(pointerOf(record), index * recordBytes, recordBytes)
  return bytes
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string') return encodeBytes(types.text, Buffer.from(value))
  if (typeof value === 'boolean') return control(types.boolean, Number(value))
  if (typeof value === 'number') return encodeNumber(value)
  if (Array.isArray(value)) return Buffer.concat([control(types.array, value.length), ...value.map(encode)])
  const pairs = Object.entries(value)
  return Buffer.concat([control(types.map, pairs.length), ...pairs.flat().map(encode)])
}

function encodeNumber(value: number): Buffer {
  const isUnsigned = Number.isInteger(value) && value >= 0
  const bytes = Buffer.alloc(isUnsigned ? 4 : 8)
  if (isUnsigned) bytes.writeUInt32BE(value)
  else bytes.writeDoubleBE(value)
  return encodeBytes(isUnsigned ? types.uint32 : types.double, bytes)
}

const encodeBytes = (type: number, bytes: Buffer): Buffer => Buffer.concat([control(type, bytes.length), bytes])

/** Control byte: three bits of type (0: the type follows in its own byte) and five bits of size (29: one more byte follows). */
function control(type: number, size: number): Buffer {
  if (size >= 29 + 256) throw new Error('Values of this length are not supported.')
  const [sizeBits, sizeBytes] = size < 29 ? [size, []] : [29, [size - 29]]
  return Buffer.from(type <= 7 ? [(type << 5) | sizeBits, ...sizeBytes] : [sizeBits, type - 7, ...sizeBytes])
}
