import type { Tally, TallyRequest, WalkRequest, WalkStep } from './scan-request.ts'

/** The data of a worker thread, which runs one scan after the other. */
export interface ScanData {
  readonly database:
    | { readonly kind: 'sqlite'; readonly path: string }
    | { readonly kind: 'postgres'; readonly url: string }
  /** Stop flag: 0 while the thread should run. It is checked between batches. */
  readonly ending: Int32Array<SharedArrayBuffer>
}

export type FromScan =
  | { readonly kind: 'progress'; readonly processed: number }
  /** The worker waits for `continue` before it goes on. */
  | { readonly kind: 'step'; readonly step: WalkStep }
  | { readonly kind: 'tally'; readonly tally: Tally }
  /** The scan is complete; the thread waits for the next one. */
  | { readonly kind: 'end' }
  | { readonly kind: 'failure'; readonly message: string; readonly code: string | undefined }

export type ToScan =
  | { readonly kind: 'start'; readonly request: TallyRequest | WalkRequest }
  | { readonly kind: 'continue'; readonly shouldContinue: boolean }
  /** Sent after the stop flag is set, for a thread that waits for a message. */
  | { readonly kind: 'exit' }
