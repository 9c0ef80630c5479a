/** Labels of a series, with the name of the metric as `__name__`. */
export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels: Labels
  readonly value: number
}

/** What all targets returned at one time, in seconds. */
export interface Scrape {
  readonly time: number
  readonly samples: readonly Sample[]
}

export interface Target {
  readonly url: string
  readonly job: string
  readonly instance: string
}

/** Reads `/metrics` of every target and labels the samples as Prometheus does; `up` is 0 for a target that does not respond. */
export async function scrape(targets: readonly Target[], time: number): Promise<Scrape> {
  const perTarget = await Promise.all(
    targets.map(async ({ url, job, instance }) => {
      const text = await readMetrics(url)
      const samples = [...parseMetrics(text ?? ''), { labels: { __name__: 'up' }, value: text === undefined ? 0 : 1 }]
      return samples.map(({ labels, value }) => ({ labels: { ...labels, job, instance }, value }))
    }),
  )
  return { time, samples: perTarget.flat() }
}

async function readMetrics(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/metrics`)
    return response.ok ? await response.text() : undefined
  } catch {
    return undefined
  }
}

/** Raises an Error for a line that is not in the text format of Prometheus. */
function parseMetrics(text: string): Sample[] {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return lines.map(line => {
    const [, name, labelText = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (!name || !value) throw new Error(`Not a sample: ${line}`)
    const labels = Object.fromEntries(
      [...labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, quoted]) => [label!, unquoted(quoted!)]),
    )
    return { labels: { ...labels, __name__: name }, value: parseNumber(value) }
  })
}

const unquoted = (text: string): string => text.replaceAll(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char))

export const parseNumber = (text: string): number =>
  /^[+-]?Inf$/.test(text) ? (text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY) : Number(text)

/** The same scrapes with other values for the series of one metric; `change` gets a sample and the number of its scrape. */
export const withValues = (
  scrapes: readonly Scrape[],
  metric: string,
  change: (sample: Sample, index: number) => number,
): Scrape[] =>
  scrapes.map(({ time, samples }, index) => ({
    time,
    samples: samples.map(sample =>
      sample.labels.__name__ === metric ? { ...sample, value: change(sample, index) } : sample,
    ),
  }))
