import type { Plugin } from '@halyard/contract'
import { isJson, type SettingError } from '../settings/setting-rules.ts'

export type JobFieldType = 'string' | 'boolean' | 'json' | 'number' | 'date' | 'daterange'

/** A payload field of a public job. */
export interface JobField {
  readonly key: string
  readonly type: JobFieldType
  readonly label: string
  readonly isRequired: boolean
  readonly fallback: unknown
}

export interface PublicJob {
  readonly name: string
  readonly fields: readonly JobField[]
}

/** The raw input: text, booleans and date ranges. */
export type JobValue = string | boolean | readonly [from: string, to: string]
export type JobValues = Readonly<Record<string, JobValue>>

const types: readonly JobFieldType[] = ['string', 'boolean', 'json', 'number', 'date', 'daterange']

type Loose = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The public jobs that the code implements. */
export function readJobs({ public_jobs, capabilities }: Pick<Plugin, 'public_jobs' | 'capabilities'>): PublicJob[] {
  const offered = Array.isArray(capabilities.jobs) ? capabilities.jobs : []
  return Object.entries(public_jobs)
    .filter(([name, job]) => offered.includes(name) && isObject(job))
    .map(([name, job]) => ({ name, fields: readFields((job as Loose).payload) }))
}

function readFields(payload: unknown): JobField[] {
  if (!isObject(payload)) return []
  return Object.entries(payload).flatMap(([key, field]) => {
    const type = isObject(field) ? types.find(each => each === field.type) : undefined
    if (!type || !isObject(field)) return []
    const label = typeof field.title === 'string' && field.title !== '' ? field.title : key
    return [{ key, type, label, isRequired: field.required === true, fallback: field.default }]
  })
}

export const startOf = (job: PublicJob): JobValues =>
  Object.fromEntries(job.fields.map(field => [field.key, startValue(field)]))

function startValue({ type, fallback }: JobField): JobValue {
  if (type === 'boolean') return fallback === true
  if (type === 'daterange') {
    const [from = '', to = ''] = Array.isArray(fallback) ? fallback.map(String) : []
    return [from, to]
  }
  if (fallback === undefined || fallback === null) return ''
  return typeof fallback === 'string' ? fallback : JSON.stringify(fallback)
}

const isEmpty = (value: JobValue | undefined): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.every(day => day === ''))

export function validatePayload(job: PublicJob, values: JobValues): ReadonlyMap<string, SettingError> {
  const errors = new Map<string, SettingError>()
  for (const { key, type, isRequired } of job.fields) {
    const value = values[key]
    if (isEmpty(value)) {
      if (isRequired) errors.set(key, 'required')
    } else if (type === 'json' && typeof value === 'string' && !isJson(value)) errors.set(key, 'json')
  }
  return errors
}

/** The request payload: empty fields are omitted, JSON and numbers are parsed. */
export function payloadOf(job: PublicJob, values: JobValues): Record<string, unknown> {
  const filled = job.fields.filter(({ key }) => !isEmpty(values[key]))
  return Object.fromEntries(
    filled.map(({ key, type }) => {
      const value = values[key] as JobValue
      if (type === 'number') return [key, Number(value)]
      return [key, type === 'json' ? JSON.parse(String(value)) : value]
    }),
  )
}
