import { ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api'
import { type Logger, type LogRecord, SeverityNumber } from '@opentelemetry/api-logs'

const severities: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
}

/** A destination for log lines that forwards each as an OpenTelemetry log record. */
export function createLogBridge(logger: Logger): { write(line: string): void } {
  return {
    write(line) {
      const record = toLogRecord(line)
      if (record) logger.emit(record)
    },
  }
}

/** Undefined for a line that is not JSON: it is on standard output anyway. */
export function toLogRecord(line: string): LogRecord | undefined {
  let entry: Record<string, unknown>
  try {
    entry = JSON.parse(line)
  } catch {
    return undefined
  }
  const { level, time, msg, pid: _pid, hostname: _hostname, trace_id: traceId, span_id: spanId, ...attributes } = entry
  const severityText = String(level)
  return {
    severityText,
    severityNumber: severities[severityText] ?? SeverityNumber.UNSPECIFIED,
    ...(typeof time === 'string' || typeof time === 'number' ? { timestamp: new Date(time) } : {}),
    ...(typeof traceId === 'string' && typeof spanId === 'string' && { context: contextOf(traceId, spanId) }),
    body: String(msg ?? ''),
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [
        name,
        typeof value === 'object' ? JSON.stringify(value) : (value as string | number | boolean),
      ]),
    ),
  }
}

const contextOf = (traceId: string, spanId: string) =>
  trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED })
