import { type Logger, type LoggerOptions, pino } from 'pino'

/** Beyond this, lines are written before their turn ends. */
const waitingBytesMax = 8 * 1024

/**
 * The log, on standard output. Lines that come in one turn of the event loop go out together at its end: under load, writing each by itself
 * would cost more than making the answer that it tells of.
 */
export function openLog(options: LoggerOptions): Logger {
  const output = pino.destination({ dest: 1, sync: true, minLength: waitingBytesMax })
  let isPlanned = false
  const flush = () => {
    isPlanned = false
    output.flush()
  }
  process.once('exit', flush)
  return pino(options, {
    write(line) {
      output.write(line)
      if (isPlanned) return
      isPlanned = true
      setImmediate(flush)
    },
  })
}
