import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import type { Problem } from '../../../../problem.ts'
import {
  type ArchiveEntry,
  type ArchiveLimits,
  archiveFault,
  checkPath,
  createArchiveTally,
  linkFault,
  tooLargeFault,
} from './archive-entry.ts'

const inflate = promisify(inflateRaw) as (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

const endSignature = 0x06054b50
const endBytes = 22
const commentBytesMax = 65_535
const entrySignature = 0x02014b50
const entryBytes = 46
const localSignature = 0x04034b50
const localBytes = 30
const stored = 0
const deflated = 8
const encryptedFlag = 1
const zip64Mark = 0xffffffff
const unixFileTypeMask = 0o170000
const unixLink = 0o120000

interface ZipRecord {
  path: string
  method: number
  flags: number
  checksum: number
  packedBytes: number
  unpackedBytes: number
  localOffset: number
  unixMode: number
}

/**
 * Reads the files of a zip archive by its central directory. Sizes that the directory states are limits for unpacking,
 * so a file that unpacks to more than it says is refused. Encrypted and 64-bit archives are not known.
 */
export async function readZip(zip: Buffer, limits: ArchiveLimits): Promise<ArchiveEntry[]> {
  const entries: ArchiveEntry[] = []
  const tally = createArchiveTally(limits)
  for (const record of readDirectory(zip, limits)) {
    tally(record.unpackedBytes)
    if (record.path.endsWith('/')) continue
    if ((record.unixMode & unixFileTypeMask) === unixLink) throw linkFault(record.path)
    entries.push({ path: checkPath(record.path, limits), bytes: await unpack(zip, record, limits) })
  }
  return entries
}

function* readDirectory(zip: Buffer, limits: ArchiveLimits): Generator<ZipRecord> {
  const end = findEnd(zip)
  const count = zip.readUInt16LE(end + 10)
  if (count > limits.filesMax) throw archiveFault(`The archive has more than ${limits.filesMax} files.`)
  let offset = zip.readUInt32LE(end + 16)
  for (let i = 0; i < count; i += 1) {
    if (offset + entryBytes > end || zip.readUInt32LE(offset) !== entrySignature) throw damaged()
    const nameBytes = zip.readUInt16LE(offset + 28)
    const record: ZipRecord = {
      flags: zip.readUInt16LE(offset + 8),
      method: zip.readUInt16LE(offset + 10),
      checksum: zip.readUInt32LE(offset + 16),
      packedBytes: zip.readUInt32LE(offset + 20),
      unpackedBytes: zip.readUInt32LE(offset + 24),
      unixMode: zip.readUInt32LE(offset + 38) >>> 16,
      localOffset: zip.readUInt32LE(offset + 42),
      path: zip.toString('utf8', offset + entryBytes, offset + entryBytes + nameBytes),
    }
    yield record
    offset += entryBytes + nameBytes + zip.readUInt16LE(offset + 30) + zip.readUInt16LE(offset + 32)
  }
}

function findEnd(zip: Buffer): number {
  const first = Math.max(0, zip.length - endBytes - commentBytesMax)
  for (let offset = zip.length - endBytes; offset >= first; offset -= 1) {
    if (zip.readUInt32LE(offset) === endSignature) return offset
  }
  throw damaged()
}

async function unpack(zip: Buffer, record: ZipRecord, limits: ArchiveLimits): Promise<Uint8Array> {
  const { localOffset, packedBytes, unpackedBytes, method } = record
  if (record.flags & encryptedFlag) throw archiveFault(`The archive is encrypted: ${record.path}.`)
  if (packedBytes === zip64Mark || unpackedBytes === zip64Mark) throw tooLargeFault(limits)
  if (localOffset + localBytes > zip.length || zip.readUInt32LE(localOffset) !== localSignature) throw damaged()
  const start = localOffset + localBytes + zip.readUInt16LE(localOffset + 26) + zip.readUInt16LE(localOffset + 28)
  if (start + packedBytes > zip.length) throw damaged()
  const packed = zip.subarray(start, start + packedBytes)
  const bytes = method === stored ? packed : await inflateWithin(packed, record)
  if (bytes.length !== unpackedBytes || crc32(bytes) !== record.checksum) throw damaged()
  return bytes
}

async function inflateWithin(packed: Buffer, { method, unpackedBytes, path }: ZipRecord): Promise<Buffer> {
  if (method !== deflated) throw archiveFault(`The archive uses an unknown compression: ${path}.`)
  try {
    return await inflate(packed, { maxOutputLength: Math.max(1, unpackedBytes) })
  } catch {
    throw damaged()
  }
}

function damaged(): Problem {
  return archiveFault('The archive is damaged.')
}
