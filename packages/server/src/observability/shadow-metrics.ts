import { Counter, type Registry } from 'prom-client'

/** Flags with a series of their own; the rest share one, so that a scrape stays small. */
const flagsMax = 200

export type CountShadow = (
  projectId: number,
  flag: string,
  counts: { agree: number; differ: number; failed: number },
) => void

/** Comparisons of shadow mode, of this process. */
export function createShadowMetrics(registry: Registry): CountShadow {
  const comparisons = new Counter({
    name: 'halyard_shadow_evaluations_total',
    help: 'Evaluations of shadow mode by project, flag and result (agree, differ, failed); beyond 200 flags, flag is other.',
    labelNames: ['project', 'flag', 'result'],
    registers: [registry],
  })
  const known = new Set<string>()
  return (projectId, flag, { agree, differ, failed }) => {
    const name = `${projectId} ${flag}`
    if (known.size < flagsMax) known.add(name)
    const labels = known.has(name) ? { project: String(projectId), flag } : { project: 'other', flag: 'other' }
    comparisons.inc({ ...labels, result: 'agree' }, agree)
    comparisons.inc({ ...labels, result: 'differ' }, differ)
    comparisons.inc({ ...labels, result: 'failed' }, failed)
  }
}
