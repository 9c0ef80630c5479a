import { invalid, type Problem } from '../../../../problem.ts'

/** One file of an archive. The path has forward slashes and stays inside the archive. */
export interface ArchiveEntry {
  readonly path: string
  readonly bytes: Uint8Array
}

/** What an archive may hold. Everything beyond is refused as a whole, before it is kept anywhere. */
export interface ArchiveLimits {
  readonly unpackedBytesMax: number
  readonly filesMax: number
  readonly pathCharactersMax: number
}

export const archiveLimits: ArchiveLimits = Object.freeze({
  unpackedBytesMax: 50 * 1024 * 1024,
  filesMax: 2_000,
  pathCharactersMax: 400,
})

/** Why an archive is refused, in a sentence for the person who wanted to install it. */
export const archiveFault = (message: string): Problem => invalid(null, 'invalid_archive', message)

/** Returns the path in plain form. Raises `invalid` when it leads out of the archive or could be misread. */
export function checkPath(path: string, limits: ArchiveLimits): string {
  if (path.length > limits.pathCharactersMax) throw archiveFault('The archive has a path that is too long.')
  const segments = path.split('/').filter(segment => segment !== '' && segment !== '.')
  const escapes = path.startsWith('/') || segments.includes('..') || /^[a-z]:/i.test(path)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const isOdd = segments.length === 0 || /[\\\u0000-\u001f\u007f]/.test(path)
  if (escapes || isOdd) throw archiveFault(`The archive has a path that leads outside: ${JSON.stringify(path)}.`)
  return segments.join('/')
}

export const linkFault = (path: string): Problem => archiveFault(`The archive has a link: ${path}.`)

/** Counts files and bytes while an archive is read, and stops at the first one too many. */
export function createArchiveTally(limits: ArchiveLimits): (bytes: number) => void {
  let files = 0
  let total = 0
  return bytes => {
    files += 1
    total += bytes
    if (files > limits.filesMax) throw archiveFault(`The archive has more than ${limits.filesMax} files.`)
    if (total > limits.unpackedBytesMax) throw tooLargeFault(limits)
  }
}

export function tooLargeFault(limits: ArchiveLimits): Problem {
  return archiveFault(`The archive is larger than ${limits.unpackedBytesMax} bytes when unpacked.`)
}
