import { Counter, type Registry } from 'prom-client'

export type CountShadow = (counts: { agree: number; differ: number; failed: number }) => void

/** Comparisons of shadow mode, of this process. By flag they are in the API: metrics may be open to everyone. */
export function createShadowMetrics(registry: Registry): CountShadow {
  const comparisons = new Counter({
    name: 'halyard_shadow_evaluations_total',
    help: 'Evaluations of shadow mode by result (agree, differ, failed).',
    labelNames: ['result'],
    registers: [registry],
  })
  return ({ agree, differ, failed }) => {
    comparisons.inc({ result: 'agree' }, agree)
    comparisons.inc({ result: 'differ' }, differ)
    comparisons.inc({ result: 'failed' }, failed)
  }
}
