import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import {
  type ArchiveEntry,
  type ArchiveLimits,
  archiveFault,
  archiveLimits,
  damagedFault,
  tooLargeFault,
} from './archive-entry.ts'
import { readTar } from './tar.ts'
import { readZip } from './zip.ts'

/** Unpacks a zip or a gzipped tar archive in memory. Raises `invalid` with the reason. */
export async function readArchive(bytes: Buffer, limits: ArchiveLimits = archiveLimits): Promise<ArchiveEntry[]> {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return readTar(await gunzipWithin(bytes, limits), limits)
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return readZip(bytes, limits)
  throw archiveFault('The archive is neither a zip nor a gzipped tar file.')
}

const gunzipAsync = promisify(gunzip) as (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

async function gunzipWithin(bytes: Buffer, limits: ArchiveLimits): Promise<Buffer> {
  const headers = limits.filesMax * 1_024
  try {
    return await gunzipAsync(bytes, { maxOutputLength: limits.unpackedBytesMax + headers })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLargeFault(limits)
    throw damagedFault()
  }
}
