import type { SandboxLimits } from './sandbox.ts'

/**
 * The remaining budget of one call. It also covers what the guest does after its response; the
 * next call starts with a fresh one.
 */
export interface CallBudget {
  begin(cpuMsMax: number): void
  spend(cpuMs: number): void
  readonly cpuMsMax: number
  readonly cpuMsLeft: number
  readonly cpuMsUsed: number
  /** Returns why a host call is refused, or undefined when it may go ahead. */
  takeHostCall(): string | undefined
  releaseHostCall(): void
  /** Returns whether the line is logged, the first to be dropped, or dropped. */
  takeLogLine(): 'kept' | 'first_left_out' | 'left_out'
}

export function createCallBudget(limits: SandboxLimits): CallBudget {
  let cpuMsMax = limits.cpuMsMax
  let cpuMsLeft = cpuMsMax
  let cpuMsUsed = 0
  let hostCalls = 0
  let hostCallsPending = 0
  let logLines = 0
  return {
    begin(cpuMs) {
      cpuMsMax = cpuMs
      cpuMsLeft = cpuMs
      cpuMsUsed = 0
      hostCalls = 0
      logLines = 0
    },
    spend(cpuMs) {
      cpuMsLeft -= cpuMs
      cpuMsUsed += cpuMs
    },
    get cpuMsMax() {
      return cpuMsMax
    },
    get cpuMsLeft() {
      return cpuMsLeft
    },
    get cpuMsUsed() {
      return cpuMsUsed
    },
    takeHostCall() {
      if (hostCalls >= limits.hostCallsMax) return 'This call has used up its calls to the host.'
      if (hostCallsPending >= limits.hostCallsPendingMax) return 'Too many calls to the host are under way.'
      hostCalls += 1
      hostCallsPending += 1
      return undefined
    },
    releaseHostCall() {
      hostCallsPending -= 1
    },
    takeLogLine() {
      logLines += 1
      if (logLines <= limits.logLinesMax) return 'kept'
      return logLines === limits.logLinesMax + 1 ? 'first_left_out' : 'left_out'
    },
  }
}
