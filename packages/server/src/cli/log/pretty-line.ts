const colors: Readonly<Record<string, number>> = { fatal: 31, error: 31, warn: 33, info: 32, debug: 36, trace: 90 }

interface LogLine {
  readonly level: string
  readonly time: string
  readonly msg?: string
  readonly err?: { readonly message?: string; readonly stack?: string }
  readonly [field: string]: unknown
}

/** One JSON log line for people: local time, level, message, fields; the stack of an error on lines of its own. */
export function prettyLine(json: string, hasColor: boolean): string {
  const paint = (code: number, text: string) => (hasColor ? `\u001b[${code}m${text}\u001b[0m` : text)
  let line: LogLine
  try {
    line = JSON.parse(json) as LogLine
  } catch {
    return json
  }
  const { level, time, msg = '', err, pid: _pid, hostname: _hostname, event: _event, ...fields } = line
  const shownFields = Object.entries(fields).map(([name, value]) => paint(90, `${name}=`) + shown(value))
  const head = [paint(90, clock(time)), paint(colors[level] ?? 0, level.toUpperCase().padEnd(5)), msg, ...shownFields]
  const stack = err ? `\n${(err.stack ?? err.message ?? '').replace(/^/gm, '    ')}` : ''
  return `${head.join(' ')}${stack}\n`
}

const clock = (time: string): string => {
  const date = new Date(time)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  return typeof value === 'string' && /[\s"=]/.test(text) ? JSON.stringify(text) : text
}
