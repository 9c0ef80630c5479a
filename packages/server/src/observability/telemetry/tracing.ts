/** Spans of requests, and the W3C trace context of what they cause. */
export interface Tracing {
  /** Begins the span of a request, as a child of the caller's span if the headers name one. */
  startRequest(method: string, path: string, headers: TraceHeaders): RequestSpan
  /** Runs work, and everything that it starts, in the context of a span. */
  run<T>(span: RequestSpan, work: () => T): T
  /** The headers to send with an outgoing request; none outside of a request. */
  outgoingHeaders(): Readonly<Record<string, string>>
  /** Fields of a log line that name the current span. */
  logFields(): Readonly<Record<string, string>>
}

/** Of which `traceparent` and `tracestate` are read. */
export type TraceHeaders = Readonly<Record<string, string | string[] | undefined>>

/** A request that is being traced. */
export interface RequestSpan {
  /** Whether the request was sampled. Otherwise nothing needs to be collected for it. */
  readonly isRecording: boolean
  addEvaluation(evaluation: TracedEvaluation): void
  end(route: string, status: number): void
}

/** OpenTelemetry's semantic conventions for the evaluation of a flag. */
export interface TracedEvaluation {
  readonly key: string
  readonly variant: string
  /** `static`, `targeting_match`, `split`, `disabled`, `unknown` or `error`. */
  readonly reason: string
  readonly version: string
  /** Who the flag was evaluated for. */
  readonly contextId: string
  /** The project. */
  readonly setId: string
}

/** For clients of other systems. */
export type OutgoingHeaders = Tracing['outgoingHeaders']

const none = {}
export const noOutgoingHeaders: OutgoingHeaders = () => none
