import { isOneLine } from '../../../http/routes/one-line.ts'
import { invalid, type Problem } from '../../../problem.ts'
import { checkConfigSchema, isObject } from './config-field.ts'
import { isVersionInRange } from './version-range.ts'

/** A parsed `plugin.json`. */
export interface Manifest {
  readonly name: string | undefined
  readonly description: string | undefined
  readonly icon: string | undefined
  /** The file with the code, as written; see `plugin-package.ts` for what stands in when it is absent. */
  readonly main: string | undefined
  readonly configSchema: Record<string, unknown>
  readonly publicJobs: Record<string, unknown>
  /** Hosts that the plugin requests: `api.example.com`, `*.example.com`, either with a port. */
  readonly allowedHosts: readonly string[]
}

/** The PostHog version that Halyard's plugin interface equals. */
export const compatibleVersion = '1.43.0'

export const manifestName = 'plugin.json'
export const nameCharactersMax = 200
export const iconCharactersMax = 800
const allowedHostsMax = 50
const jobFieldTypes = ['string', 'boolean', 'json', 'number', 'date', 'daterange']
const hostPattern = /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,5})?$/i

/** Raises `invalid` with the first error. Unknown keys are ignored. */
export function parseManifest(text: string): Manifest {
  const json = parseJson(text)
  if (json.posthogVersion !== undefined) checkVersion(json.posthogVersion)
  const configSchema = checkConfigSchema(json.config ?? [])
  if (json.stateless === true && Object.keys(configSchema).length > 0) {
    throw fault('a stateless plugin cannot have config')
  }
  return {
    name: optionalText(json, 'name', nameCharactersMax),
    description: optionalText(json, 'description'),
    icon: optionalText(json, 'icon', iconCharactersMax),
    main: optionalText(json, 'main'),
    configSchema,
    publicJobs: checkPublicJobs(json.publicJobs ?? {}),
    allowedHosts: checkAllowedHosts(json.allowedHosts ?? []),
  }
}

function parseJson(text: string): Record<string, unknown> {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw fault(`it is not valid JSON (${(error as Error).message})`)
  }
  if (!isObject(json)) throw fault('it is not an object')
  return json
}

function optionalText(json: Record<string, unknown>, key: string, charactersMax = 100_000): string | undefined {
  const value = json[key]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw fault(`${key} is not a text`)
  if (value.length > charactersMax) throw fault(`${key} is longer than ${charactersMax} characters`)
  if (value.includes('\0') || !value.isWellFormed()) throw fault(`${key} contains characters that cannot be stored`)
  if (key === 'name' && !isOneLine(value)) throw fault('name is not one line without control characters')
  return value.trim() === '' ? undefined : value
}

function checkVersion(range: unknown): void {
  const isCompatible = typeof range === 'string' ? isVersionInRange(compatibleVersion, range) : undefined
  if (isCompatible === undefined) throw fault('posthogVersion is not a version range')
  if (!isCompatible) throw fault(`it asks for version ${range}, and this is ${compatibleVersion}`)
}

function checkPublicJobs(jobs: unknown): Record<string, unknown> {
  if (!isObject(jobs)) throw fault('publicJobs is not an object')
  for (const [name, job] of Object.entries(jobs)) {
    if (!isObject(job)) throw fault(`the public job ${name} is not an object`)
    const payload = job.payload ?? {}
    if (!isObject(payload)) throw fault(`the payload of the public job ${name} is not an object`)
    for (const [key, field] of Object.entries(payload)) {
      const isKnown = isObject(field) && jobFieldTypes.includes(field.type as string)
      if (!isKnown) throw fault(`the public job ${name} has a field ${key} of unknown type`)
    }
  }
  return jobs
}

function checkAllowedHosts(hosts: unknown): string[] {
  if (!Array.isArray(hosts)) throw fault('allowedHosts is not a list')
  if (hosts.length > allowedHostsMax) throw fault(`allowedHosts has more than ${allowedHostsMax} hosts`)
  return hosts.map(host => {
    if (typeof host !== 'string' || !hostPattern.test(host)) throw fault(`allowedHosts has ${JSON.stringify(host)}`)
    return host.toLowerCase()
  })
}

function fault(what: string): Problem {
  return invalid(manifestName, 'invalid_input', `plugin.json is invalid: ${what}.`)
}
