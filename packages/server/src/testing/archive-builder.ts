import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

/** Builds archives for tests, including malicious ones that no ordinary tool would write. */

export interface ArchiveFile {
  path: string
  content?: string | Uint8Array
  /** Tar type flag; a regular file by default. */
  type?: string
  linkTarget?: string
  /** Size in the header, if it should differ from the actual one. */
  statedBytes?: number
  unixMode?: number
  /** The folder part of a ustar path. */
  pathPrefix?: string
}

export function makeTgz(entries: readonly ArchiveFile[]): Buffer {
  return gzipSync(makeTar(entries))
}

export function makeTar(entries: readonly ArchiveFile[]): Buffer {
  const parts: Buffer[] = []
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? '')
    parts.push(tarHeader(entry, content.length), content, Buffer.alloc((512 - (content.length % 512)) % 512))
  }
  return Buffer.concat([...parts, Buffer.alloc(1024)])
}

function tarHeader(entry: ArchiveFile, size: number): Buffer {
  const { path, type = '0', linkTarget = '', statedBytes, pathPrefix = '' } = entry
  const header = Buffer.alloc(512)
  header.write(path, 0, 100)
  header.write('0000644\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  header.write(`${(statedBytes ?? size).toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write(' '.repeat(8), 148)
  header.write(type, 156)
  header.write(linkTarget, 157, 100)
  header.write('ustar\0', 257)
  header.write('00', 263)
  header.write(pathPrefix, 345, 155)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

export function makeZip(entries: readonly ArchiveFile[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const { local, central } = zipRecords(entry, offset)
    bodies.push(local)
    directory.push(central)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, central, end])
}

function zipRecords({ path, content = '', statedBytes, unixMode = 0o100644 }: ArchiveFile, offset: number) {
  const name = Buffer.from(path)
  const uncompressed = Buffer.from(content)
  const compressed = deflateRawSync(uncompressed)
  const sizes = Buffer.alloc(12)
  sizes.writeUInt32LE(crc32(uncompressed), 0)
  sizes.writeUInt32LE(compressed.length, 4)
  sizes.writeUInt32LE(statedBytes ?? uncompressed.length, 8)
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  local.writeUInt16LE(8, 8)
  sizes.copy(local, 14)
  local.writeUInt16LE(name.length, 26)
  const central = Buffer.alloc(46)
  central.writeUInt32LE(0x02014b50, 0)
  central.writeUInt16LE(8, 10)
  sizes.copy(central, 16)
  central.writeUInt16LE(name.length, 28)
  central.writeUInt32LE((unixMode << 16) >>> 0, 38)
  central.writeUInt32LE(offset, 42)
  return { local: Buffer.concat([local, name, compressed]), central: Buffer.concat([central, name]) }
}
