import { invalid, type Problem } from '../../../../problem.ts'

/** A place that plugins are fetched from. `A` is the kind of address that it understands. A signal ends what it asks for. */
export interface Origin<A> {
  /** The newest tag of an address that moves, or the pinned one. Raises `invalid` when the place cannot say. */
  findLatest(address: A, token: string | undefined, signal?: AbortSignal): Promise<string>
  /** The archive of a tag. Raises `invalid` when it is not to be had, too large or not what the place promised. */
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
