import type { Author } from '../../../domain/activity.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { isObject } from '../package/config-field.ts'
import type { Plugin } from '../plugin.ts'
import type { PluginConfig } from './plugin-config.ts'
import { recordConfig } from './record-config.ts'

export interface JobRequest {
  readonly type: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** Schedules one of the plugin's public jobs for now. Raises `invalid` when there is none, or its payload is invalid. */
export async function triggerJob(
  tx: Stores,
  author: Author,
  project: Project,
  plugin: Plugin,
  config: PluginConfig,
  job: JobRequest,
  now: Instant,
): Promise<void> {
  if (!config.enabled) throw invalid(null, 'invalid_input', 'The plugin is switched off in this project.')
  checkPayload(plugin, job)
  const jobId = await tx.pluginJobs.enqueue(
    { configId: config.id, kind: 'job', name: job.type, payload: job.payload, runAt: now },
    now,
  )
  const trigger = { job_type: job.type, job_id: String(jobId), payload: job.payload }
  await recordConfig(tx, author, project, plugin, config, { activity: 'job_triggered', trigger }, now)
}

function checkPayload({ publicJobs, capabilities }: Plugin, { type, payload }: JobRequest): void {
  const job = Object.hasOwn(publicJobs, type) ? publicJobs[type] : undefined
  const isOffered = Array.isArray(capabilities.jobs) && capabilities.jobs.includes(type)
  if (!isObject(job) || !isOffered) throw invalid('job', 'invalid_choice', `The plugin has no public job ${type}.`)
  const fields = isObject(job.payload) ? job.payload : {}
  for (const key of Object.keys(payload)) {
    if (!Object.hasOwn(fields, key)) throw invalid('job', 'invalid_input', `The job ${type} has no field ${key}.`)
  }
  for (const [key, field] of Object.entries(fields)) {
    const isEmpty = payload[key] === undefined || payload[key] === null || payload[key] === ''
    if (isObject(field) && field.required === true && isEmpty) {
      throw invalid('job', 'required', `The job ${type} requires the field ${key}.`)
    }
  }
}
