import { invalid, type Problem } from '../../../../problem.ts'

/** A source of plugins. `A` is its kind of address. The signal cancels requests. */
export interface Origin<A> {
  /** The newest tag of an address, or the pinned one. Raises `invalid` when it cannot be determined. */
  findLatest(address: A, token: string | undefined, signal?: AbortSignal): Promise<string>
  /** The archive of a tag. Raises `invalid` when it is missing, too large or fails its integrity check. */
  download(address: A, tag: string, token: string | undefined, signal?: AbortSignal): Promise<Download>
}

export interface Download {
  readonly tag: string
  readonly archive: Buffer
  /** A folder below the archive's root that is the plugin. */
  readonly folder: string | undefined
}

export interface OriginLimits {
  readonly answerBytesMax: number
  readonly archiveBytesMax: number
  readonly timeoutMsMax: number
}

export const originLimits: OriginLimits = Object.freeze({
  answerBytesMax: 5 * 1024 * 1024,
  archiveBytesMax: 10 * 1024 * 1024,
  timeoutMsMax: 30_000,
})

export const lookupFailed = (reason: string): Problem =>
  invalid('url', 'lookup_failed', `The version could not be looked up: ${reason}`)

export const downloadFailed = (reason: string): Problem =>
  invalid('url', 'download_failed', `The plugin could not be downloaded: ${reason}`)
