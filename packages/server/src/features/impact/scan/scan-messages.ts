import type { Tally, TallyRequest, WalkRequest, WalkStep } from './scan-request.ts'

/** What the worker is started with. */
export interface ScanJob {
  readonly database:
    | { readonly kind: 'sqlite'; readonly path: string }
    | { readonly kind: 'postgres'; readonly url: string }
  readonly request: TallyRequest | WalkRequest
  /** One number, 0 until the scan is to end. The worker looks at it between batches. */
  readonly ending: Int32Array<SharedArrayBuffer>
}

export type FromScan =
  | { readonly kind: 'progress'; readonly processed: number }
  /** The worker waits for the answer `goOn`. */
  | { readonly kind: 'step'; readonly step: WalkStep }
  | { readonly kind: 'tally'; readonly tally: Tally }
  | { readonly kind: 'end' }
  | { readonly kind: 'failure'; readonly message: string; readonly code: string | undefined }

export interface ToScan {
  readonly goOn: boolean
}
