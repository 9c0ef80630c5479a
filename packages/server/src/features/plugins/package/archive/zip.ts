import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { Problem } from '../../../../problem.ts'
import {
  type ArchiveEntry,
  type ArchiveLimits,
  archiveFault,
  checkPath,
  createArchiveTally,
  damagedFault,
  linkFault,
} from './archive-entry.ts'

const unixFileTypeMask = 0o170000
const unixLink = 0o120000

/**
 * Reads the files of a zip archive by its central directory. The sizes stated there are limits for unpacking. Raises
 * `invalid` for an archive with links, encryption or damage, and for one that exceeds a limit.
 */
export async function readZip(bytes: Buffer, limits: ArchiveLimits): Promise<ArchiveEntry[]> {
  const tally = createArchiveTally(limits)
  const entries: ArchiveEntry[] = []
  try {
    const zip = await fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false, validateEntrySizes: true })
    for await (const entry of zip.eachEntry()) {
      tally(entry.uncompressedSize)
      // Tools write UTF-8 also without its flag, and `checkPath` rejects more than the library's own checks.
      const path = entry.fileNameRaw.toString('utf8')
      if (path.endsWith('/')) continue
      const unixMode = entry.externalFileAttributes >>> 16
      if ((unixMode & unixFileTypeMask) === unixLink) throw linkFault(path)
      entries.push({ path: checkPath(path, limits), bytes: await unpack(zip, entry, path) })
    }
  } catch (error) {
    throw error instanceof Problem ? error : damagedFault()
  }
  return entries
}

async function unpack(zip: ZipFile, entry: Entry, path: string): Promise<Buffer> {
  if (entry.isEncrypted()) throw archiveFault(`The archive is encrypted: ${path}.`)
  if (!entry.canDecodeFileData()) throw archiveFault(`The archive uses an unsupported compression: ${path}.`)
  const content = await buffer(await zip.openReadStreamPromise(entry))
  if (crc32(content) !== entry.crc32) throw damagedFault()
  return content
}
