import { extract, type Header } from 'tar-stream'
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
import { checkTarHeaders } from './tar-headers.ts'

/**
 * Reads the files of a tar archive: ustar, with the long names of GNU and pax. Raises `invalid` for an archive with
 * links, devices or damaged headers, and for one that exceeds a limit.
 */
export async function readTar(tar: Buffer, limits: ArchiveLimits): Promise<ArchiveEntry[]> {
  await checkTarHeaders(tar, limits)
  const tally = createArchiveTally(limits)
  const entries: ArchiveEntry[] = []
  const reader = extract()
  reader.end(tar)
  try {
    for await (const source of reader) {
      const { header } = source
      const path = checkEntry(header, limits)
      tally(header.size)
      const chunks: Uint8Array[] = []
      for await (const chunk of source) chunks.push(chunk as Uint8Array)
      if (path !== undefined) entries.push({ path, bytes: Buffer.concat(chunks) })
    }
  } catch (error) {
    throw error instanceof Problem ? error : damagedFault()
  }
  return entries
}

/** The path of a file; undefined for a folder, which is not stored. */
function checkEntry({ type, name }: Header, limits: ArchiveLimits): string | undefined {
  if (type === 'directory') return undefined
  if (type === 'link' || type === 'symlink') throw linkFault(name)
  if (type !== 'file' && type !== 'contiguous-file') {
    throw archiveFault(`The archive has an entry of unknown kind: ${name}.`)
  }
  return checkPath(name, limits)
}
