import { invalid, type Problem } from '../../../../problem.ts'

/** One file of an archive. The path has forward slashes and stays inside the archive. */
export interface ArchiveEntry {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Limits of an archive. One that exceeds any of them is rejected as a whole. */
export interface ArchiveLimits {
  readonly unpackedBytesMax: number
  /** Files, folders and extended headers together. */
  readonly filesMax: number
  readonly pathCharactersMax: number
  /** One extended header of a tar archive: pax, or a GNU long name. */
  readonly headerBytesMax: number
  /** All extended headers of a tar archive together: they are parsed on the main thread. */
  readonly headersBytesMax: number
}

export const archiveLimits: ArchiveLimits = Object.freeze({
  unpackedBytesMax: 50 * 1024 * 1024,
  filesMax: 2_000,
  pathCharactersMax: 400,
  headerBytesMax: 64 * 1024,
  headersBytesMax: 512 * 1024,
})

/** Why an archive is rejected, for the user who wants to install it. */
export const archiveFault = (message: string): Problem => invalid(null, 'invalid_archive', message)

/** Returns the normalized path. Raises `invalid` when it leads out of the archive or is ambiguous. */
export function checkPath(path: string, limits: ArchiveLimits): string {
  if (path.length > limits.pathCharactersMax) {
    throw archiveFault(`The archive has a path longer than ${limits.pathCharactersMax} characters.`)
  }
  const segments = path.split('/').filter(segment => segment !== '' && segment !== '.')
  const escapes = path.startsWith('/') || segments.includes('..') || /^[a-z]:/i.test(path)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const isAmbiguous = segments.length === 0 || /[\\\u0000-\u001f\u007f]/.test(path)
  if (escapes || isAmbiguous) throw archiveFault(`The archive has a path that leads outside: ${JSON.stringify(path)}.`)
  return segments.join('/')
}

export const linkFault = (path: string): Problem => archiveFault(`The archive has a link: ${path}.`)

export const damagedFault = (): Problem => archiveFault('The archive is damaged.')

/** Counts files and bytes while an archive is read, and raises `invalid` at the first one beyond a limit. */
export function createArchiveTally(limits: ArchiveLimits): (bytes: number) => void {
  let files = 0
  let total = 0
  return bytes => {
    files += 1
    total += bytes
    if (files > limits.filesMax) throw archiveFault(`The archive has more than ${limits.filesMax} files and headers.`)
    if (total > limits.unpackedBytesMax) throw tooLargeFault(limits)
  }
}

export function tooLargeFault(limits: ArchiveLimits): Problem {
  return archiveFault(`The archive is larger than ${limits.unpackedBytesMax} bytes when unpacked.`)
}
