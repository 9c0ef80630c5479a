import { type Logger, pino, stdTimeFunctions } from 'pino'
import type { Config } from '../../config.ts'
import type { Telemetry } from '../../observability/telemetry/telemetry.ts'
import { createOutageFilter, type OutageFilter } from './outage-filter.ts'
import { prettyLine } from './pretty-line.ts'

/** Beyond this, lines are written before the event-loop tick ends. */
const bufferedBytesMax = 8 * 1024

export interface OpenedLog {
  readonly log: Logger
  readonly outages: OutageFilter
}

/**
 * The log, on standard output, and copied to OTLP when that is enabled. Lines of one event-loop tick are written together: under load, a system call for each would cost more than the
 * request that it reports.
 */
export function openLog(
  { logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  telemetry?: Telemetry,
): OpenedLog {
  const output = pino.destination({ dest: 1, sync: true, minLength: bufferedBytesMax })
  const isPretty = logFormat === 'pretty' || (logFormat === 'auto' && process.stdout.isTTY === true)
  const hasColor = isPretty && process.stdout.isTTY === true && !process.env.NO_COLOR
  let isPlanned = false
  const flush = () => {
    isPlanned = false
    output.flush()
  }
  process.once('exit', flush)
  const outages = createOutageFilter()
  const log = pino(
    {
      level: logLevel,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: ['req.headers.authorization', '*.password', '*.api_key', '*.token'], censor: '[hidden]' },
      hooks: { logMethod: outages.logMethod },
      ...(telemetry?.tracing && { mixin: telemetry.tracing.logFields }),
    },
    {
      write(line: string) {
        telemetry?.logs?.write(line)
        output.write(isPretty ? prettyLine(line, hasColor) : line)
        if (isPlanned) return
        isPlanned = true
        setImmediate(flush)
      },
    },
  )
  telemetry?.onFailure(problem =>
    log.warn({ event: 'telemetry_export_failed', problem }, 'telemetry cannot be exported'),
  )
  return { log, outages }
}
