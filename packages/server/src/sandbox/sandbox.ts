/**
 * What a sandbox promises: untrusted code runs in a realm of its own, with nothing in reach but the
 * functions that the host hands in, and it can neither stop the service nor outgrow its limits. Values cross the
 * border as JSON text in both directions, so no object of one side ever exists on the other.
 */
export interface Sandbox {
  /**
   * Evaluates a program in a fresh realm and returns the realm. Raises a `SandboxFailure` when the program does not
   * load: kind `threw` with the guest's own error, or the limit that it ran into.
   */
  open(program: SandboxProgram, host: SandboxHost, limits?: Partial<SandboxLimits>): Promise<SandboxRealm>
  /** Ends every realm and every worker. Calls that are still under way fail with kind `closed`. */
  close(): Promise<void>
}

export interface SandboxRealm {
  /**
   * Passes a JSON value to the program's dispatcher and returns its result. Calls of one realm run one after the
   * other. Raises a `SandboxFailure`; after any kind but `threw` and `size` the realm is gone for good.
   */
  call(request: unknown, limits?: Partial<CallLimits>): Promise<SandboxAnswer>
  /** True when no further call can succeed. */
  readonly lost: boolean
  close(): void
}

export interface SandboxAnswer {
  value: unknown
  /** How long the guest's code ran for this call, without the time it spent waiting. */
  cpuMs: number
  /** What the realm's memory held at the last measurement. */
  memoryBytes: number
}

/** Scripts that are evaluated in order. The value of the last one is the dispatcher, `(request) => answer`. */
export interface SandboxProgram {
  name: string
  scripts: readonly SandboxScript[]
}

export interface SandboxScript {
  fileName: string
  text: string
}

/** What a program can reach outside of its realm. Both are called on the main thread. */
export interface SandboxHost {
  /** A call of the realm begins, with a new budget for host calls. */
  callStarted?(): void
  /** Handles `host.call(name, …args)` of the guest. A thrown error becomes an Error inside, with its message only. */
  call(name: string, args: readonly unknown[]): Promise<unknown>
  log(lines: readonly SandboxLogLine[]): void
}

export type SandboxLogLevel = 'debug' | 'log' | 'info' | 'warn' | 'error'

export interface SandboxLogLine {
  level: SandboxLogLevel
  text: string
}

export interface CallLimits {
  /** How long the guest's code may run for one call, summed over its turns. */
  cpuMsMax: number
  /** The time limit of one call, including waiting. */
  wallMsMax: number
}

export interface SandboxLimits extends CallLimits {
  memoryBytesMax: number
  /** Longest JSON text that may cross the border in one message. */
  messageCharactersMax: number
  /** The number of concurrent host calls. */
  hostCallsPendingMax: number
  /** Host calls that one call may make in all. */
  hostCallsMax: number
  /** Characters of JSON that the host calls of one call may carry in all, in both directions. */
  hostCharactersMax: number
  logLinesMax: number
  logLineCharactersMax: number
}

export const defaultSandboxLimits: Readonly<SandboxLimits> = Object.freeze({
  cpuMsMax: 1_000,
  wallMsMax: 10_000,
  memoryBytesMax: 32 * 1024 * 1024,
  messageCharactersMax: 2 * 1024 * 1024,
  hostCallsPendingMax: 100,
  hostCallsMax: 2_000,
  hostCharactersMax: 16 * 1024 * 1024,
  logLinesMax: 100,
  logLineCharactersMax: 4_096,
})

/**
 * - `threw`: the code threw; `guest` carries its error
 * - `memory`, `cpu`, `wall_clock`, `size`: the limit that it ran into
 * - `crash`: the realm broke in a way that it cannot go on from
 * - `neighbor`: the worker had to be replaced because of another realm; trying again in a new realm is fair
 * - `closed`: the realm or the sandbox was closed
 */
export type SandboxFailureKind = 'threw' | 'memory' | 'cpu' | 'wall_clock' | 'size' | 'crash' | 'neighbor' | 'closed'

export interface GuestError {
  name: string
  message: string
  stack: string
}

export class SandboxFailure extends Error {
  readonly kind: SandboxFailureKind
  readonly guest: GuestError | undefined

  constructor(kind: SandboxFailureKind, message: string, guest?: GuestError) {
    super(message)
    this.name = 'SandboxFailure'
    this.kind = kind
    this.guest = guest
  }
}
