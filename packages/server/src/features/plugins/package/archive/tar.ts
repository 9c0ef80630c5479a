import {
  type ArchiveEntry,
  type ArchiveLimits,
  archiveFault,
  checkPath,
  createArchiveTally,
  linkFault,
} from './archive-entry.ts'

const block = 512

/**
 * Reads the files of a tar archive: ustar, with the long names of GNU and pax. Only files and folders are known; an
 * archive with links, devices or damaged headers is refused as a whole.
 */
export function readTar(tar: Buffer, limits: ArchiveLimits): ArchiveEntry[] {
  const entries: ArchiveEntry[] = []
  const tally = createArchiveTally(limits)
  let longPath: string | undefined
  for (let offset = 0; offset + block <= tar.length; ) {
    const header = tar.subarray(offset, offset + block)
    if (header.every(byte => byte === 0)) break
    const { type, size, path } = readHeader(header)
    const start = offset + block
    if (start + size > tar.length) throw archiveFault('The archive ends in the middle of a file.')
    const bytes = tar.subarray(start, start + size)
    offset = start + Math.ceil(size / block) * block
    if (type === 'L') longPath = text(bytes, 0, size)
    else if (type === 'x') longPath = readPaxPath(bytes) ?? longPath
    else if (type !== 'g') {
      const checked = checkEntry(type, longPath ?? path, limits)
      longPath = undefined
      tally(size)
      if (checked) entries.push({ path: checked, bytes })
    }
  }
  return entries
}

/** The path of a file, or undefined for a folder, which is nothing to keep. */
function checkEntry(type: string, path: string, limits: ArchiveLimits): string | undefined {
  if (type === '5') return undefined
  if (type === '1' || type === '2') throw linkFault(path)
  if (type !== '0' && type !== '7') throw archiveFault(`The archive has an entry of unknown kind: ${path}.`)
  return checkPath(path, limits)
}

function readHeader(header: Buffer): { type: string; size: number; path: string } {
  checkSum(header)
  const name = text(header, 0, 100)
  const isUstar = header.toString('latin1', 257, 262) === 'ustar'
  const prefix = isUstar && header.toString('latin1', 263, 265) === '00' ? text(header, 345, 155) : ''
  return {
    type: header[156] === 0 ? '0' : String.fromCharCode(header[156]!),
    size: octal(header, 124, 12),
    path: prefix ? `${prefix}/${name}` : name,
  }
}

function checkSum(header: Buffer): void {
  let sum = 0
  for (let i = 0; i < block; i += 1) sum += i >= 148 && i < 156 ? 32 : header[i]!
  if (sum !== octal(header, 148, 8)) throw archiveFault('The archive has a damaged header.')
}

function octal(bytes: Buffer, start: number, length: number): number {
  const digits = text(bytes, start, length).trim()
  if (!/^[0-7]+$/.test(digits)) throw archiveFault('The archive has a damaged number.')
  return Number.parseInt(digits, 8)
}

/** The `path` of a pax header, whose records are `LENGTH KEY=VALUE` and a line break, the length counting itself. */
function readPaxPath(bytes: Buffer): string | undefined {
  let path: string | undefined
  for (let offset = 0; offset < bytes.length; ) {
    const space = bytes.indexOf(32, offset)
    const length = space < 0 ? Number.NaN : Number(bytes.toString('latin1', offset, space))
    if (!Number.isInteger(length) || length < 4) throw archiveFault('The archive has a damaged extended header.')
    const record = bytes.toString('utf8', space + 1, offset + length - 1)
    if (record.startsWith('path=')) path = record.slice('path='.length)
    if (record.startsWith('size=')) throw archiveFault('The archive has a file of extended size.')
    offset += length
  }
  return path
}

function text(bytes: Buffer, start: number, length: number): string {
  const field = bytes.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? field.length : end)
}
