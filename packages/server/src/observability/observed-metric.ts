import { Counter, Gauge, type Registry } from 'prom-client'

/** How the values of several workers become one: by their sum unless they all describe the same thing. */
export type Aggregation = 'sum' | 'max' | 'first'

/** A gauge whose value is read when metrics are scraped. Undefined leaves it out. */
export function observeGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | undefined,
  aggregator: Aggregation = 'sum',
): void {
  new Gauge({
    name,
    help,
    aggregator,
    registers: [registry],
    collect() {
      const value = read()
      if (value === undefined) this.remove()
      else this.set(value)
    },
  })
}

/** The same, with a series for each value of a label. */
export function observeGauges(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  read: () => Readonly<Record<string, number | undefined>>,
  aggregator: Aggregation = 'sum',
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    aggregator,
    registers: [registry],
    collect() {
      this.reset()
      for (const [labelValue, value] of Object.entries(read())) {
        if (value !== undefined) this.set({ [label]: labelValue }, value)
      }
    },
  })
}

/** A counter that is counted as a number elsewhere and read when metrics are scraped. */
export function observeTotal(registry: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset()
      this.inc(read())
    },
  })
}

/** The same, with a series for each value of a label. */
export function observeTotals(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  read: () => Readonly<Record<string, number>>,
): void {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset()
      for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count)
    },
  })
}
