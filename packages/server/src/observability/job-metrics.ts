import { Counter, Histogram, type Registry } from 'prom-client'
import type { JobObserver } from '../jobs/job-runner.ts'

/** Counts the runs of background jobs; only those for which this process held the lease. */
export function createJobMetrics(registry: Registry): JobObserver {
  const runs = new Counter({
    name: 'halyard_job_runs_total',
    help: 'Runs of background jobs, by name and outcome.',
    labelNames: ['name', 'outcome'],
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'halyard_job_duration_seconds',
    help: 'How long a run of a background job took.',
    labelNames: ['name'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300],
    registers: [registry],
  })
  return (name, outcome, seconds) => {
    runs.inc({ name, outcome })
    duration.observe({ name }, seconds)
  }
}
