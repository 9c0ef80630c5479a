import type { Tally, TallyRequest, WalkRequest, WalkStep } from './scan-request.ts'

/** The worker's input. */
export interface ScanJob {
  readonly database:
    | { readonly kind: 'sqlite'; readonly path: string }
    | { readonly kind: 'postgres'; readonly url: string }
  readonly request: TallyRequest | WalkRequest
  /** Stop flag: 0 while the scan should run. The worker checks it between batches. */
  readonly ending: Int32Array<SharedArrayBuffer>
}

export type FromScan =
  | { readonly kind: 'progress'; readonly processed: number }
  /** The worker waits for `ToScan` before it continues. */
  | { readonly kind: 'step'; readonly step: WalkStep }
  | { readonly kind: 'tally'; readonly tally: Tally }
  | { readonly kind: 'end' }
  | { readonly kind: 'failure'; readonly message: string; readonly code: string | undefined }

export interface ToScan {
  readonly shouldContinue: boolean
}
