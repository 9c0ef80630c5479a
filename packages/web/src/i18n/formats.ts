const minuteSeconds = 60
const hourSeconds = 60 * minuteSeconds
const daySeconds = 24 * hourSeconds
/** Seconds are not counted: below a minute it is now. */
const units = [
  { name: 'second', seconds: 1, below: 45 },
  { name: 'minute', seconds: minuteSeconds, below: 59.5 * minuteSeconds },
  { name: 'hour', seconds: hourSeconds, below: 23.5 * hourSeconds },
  { name: 'day', seconds: daySeconds, below: 45 * daySeconds },
] as const

export type Formats = ReturnType<typeof createFormats>

const formatsByLanguage = new Map<string, Formats>()

/** Numbers and dates as the language writes them. Formatters are slow to create: each is created once, when needed. */
export function formatsOf(language: string): Formats {
  const formats = formatsByLanguage.get(language) ?? createFormats(language)
  formatsByLanguage.set(language, formats)
  return formats
}

function createFormats(language: string) {
  const day = once(() => new Intl.DateTimeFormat(language, { dateStyle: 'medium' }))
  const time = once(() => new Intl.DateTimeFormat(language, { timeStyle: 'short' }))
  const moment = once(() => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }))
  const precise = once(() => new Intl.DateTimeFormat(language, { dateStyle: 'short', timeStyle: 'medium' }))
  const percent = once(() => new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 }))
  const count = once(() => new Intl.NumberFormat(language))
  const distance = once(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }))
  const exactDistance = once(() => new Intl.RelativeTimeFormat(language))
  return {
    day: (instant: string) => day().format(new Date(instant)),
    time: (instant: string) => time().format(new Date(instant)),
    moment: (instant: string) => moment().format(new Date(instant)),
    /** The relative time, or the date once that is more useful. */
    ago(instant: string, now: number) {
      const seconds = (Date.parse(instant) - now) / 1000
      const unit = units.find(each => Math.abs(seconds) < each.below)
      if (!unit) return day().format(new Date(instant))
      const away = Math.round(seconds / unit.seconds)
      return unit.name === 'second' ? distance().format(0, 'second') : exactDistance().format(away, unit.name)
    },
    /** To the second, for logs. */
    precise: (instant: string) => precise().format(new Date(instant)),
    /** From 0 to 100. */
    percent: (value: number) => percent().format(value / 100),
    count: (value: number) => count().format(value),
  }
}

function once<T>(create: () => T): () => T {
  let value: T | undefined
  return () => (value ??= create())
}
