import type { GuestError, SandboxFailureKind, SandboxLimits, SandboxLogLine, SandboxScript } from './sandbox.ts'

/** Messages from the main thread to a worker. Every `json` is the text of one value. */
export type ToWorker =
  | { type: 'open'; realm: number; scripts: readonly SandboxScript[]; limits: SandboxLimits }
  | { type: 'call'; realm: number; json: string; cpuMsMax: number }
  | { type: 'hostAnswer'; realm: number; hostCall: number; json: string }
  | { type: 'hostFailure'; realm: number; hostCall: number; message: string }
  | { type: 'close'; realm: number }

/** Messages from a worker to the main thread. `done` completes the realm's one running `open` or `call`. */
export type FromWorker =
  | { type: 'done'; realm: number; json: string; cpuMs: number; memoryBytes: number }
  | { type: 'failed'; realm: number; failure: FailureMessage }
  | { type: 'hostCall'; realm: number; hostCall: number; name: string; json: string }
  | { type: 'log'; realm: number; lines: readonly SandboxLogLine[] }

export interface FailureMessage {
  kind: SandboxFailureKind
  message: string
  guest?: GuestError
  /** The realm is gone: no further call can succeed. */
  realmLost: boolean
}

export interface WorkerData {
  wasm: WebAssembly.Module
  /** Two 32-bit words that the worker keeps up to date while guest code runs: see `progress.ts`. */
  progress: SharedArrayBuffer
}
