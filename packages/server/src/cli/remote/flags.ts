import { readFileSync } from 'node:fs'
import { printJson, printRows, progress } from '../output.ts'
import { CommandError, UsageError } from '../usage.ts'
import { type Api, type ProjectOptions, withApi } from './api.ts'
import { changeOrRequest, type GatedOptions, needsApproval } from './approval.ts'

export interface Flag {
  readonly id: number
  readonly key: string
  readonly name: string
  readonly active: boolean
  readonly rollout_percentage: number | null
  readonly tags: readonly string[]
  readonly version: number
  // biome-ignore lint/suspicious/noExplicitAny: the free-form definition.
  readonly filters: any
}

export const flagsPath = (project: string): string => `/api/projects/${encodeURIComponent(project)}/feature_flags/`

/** `halyard flags list` */
export const listFlags = (
  options: ProjectOptions & { readonly search?: string; readonly limit: number },
): Promise<void> =>
  withApi(options, async api => {
    const query = new URLSearchParams({
      limit: String(options.limit),
      ...(options.search && { search: options.search }),
    })
    const { results, count } = await api('GET', `${flagsPath(options.project)}?${query}`)
    if (options.json) return printJson(results)
    printRows(results.map(row), ['key', 'state', 'rollout', 'name'], {})
    if (count > results.length) console.error(`${results.length} of ${count} flags. Use --limit or --search.`)
  })

/** `halyard flags get <key>` */
export const getFlag = (key: string, options: ProjectOptions): Promise<void> =>
  withApi(options, async api => show(await findFlag(api, options.project, key), options))

/** `halyard flags create <key>` */
export const createFlag = (
  key: string,
  options: GatedOptions & {
    readonly name?: string
    readonly rollout?: number
    readonly filters?: string
    readonly tag: readonly string[]
    readonly disabled?: boolean
  },
): Promise<void> =>
  withApi(options, async api => {
    if (options.rollout !== undefined && options.filters !== undefined)
      throw new UsageError('Use either --rollout or --filters.')
    const filters =
      options.filters !== undefined
        ? readJson(options.filters)
        : options.rollout !== undefined
          ? { groups: [{ properties: [], rollout_percentage: options.rollout }] }
          : undefined
    const fields = {
      key,
      active: !options.disabled,
      ...(options.name !== undefined && { name: options.name }),
      ...(options.tag.length > 0 && { tags: options.tag }),
      ...(filters !== undefined && { filters }),
    }
    if (!isPlainKey.test(key))
      progress(`"${key}" has to be escaped in URLs. Keys of letters, digits, - and _ work everywhere.`)
    const flag = await changeOrRequest(options, {
      needsApproval: () => needsApproval(api, options, fields),
      write: () => api('POST', flagsPath(options.project), fields),
    })
    if (flag) show(flag, options)
  })

/** What PostHog's own forms accept. */
const isPlainKey = /^[\w-]+$/

/** `halyard flags eval <key>`: through the same endpoint as an SDK, with the reason. */
export const evaluateFlag = (
  key: string,
  options: ProjectOptions & { readonly distinctId: string; readonly property: readonly string[] },
): Promise<void> =>
  withApi(options, async api => {
    await findFlag(api, options.project, key)
    const { api_token } = await api('GET', `/api/projects/${encodeURIComponent(options.project)}/`)
    const { flags } = await api('POST', '/flags/?v=2', {
      token: api_token,
      distinct_id: options.distinctId,
      person_properties: Object.fromEntries(options.property.map(readProperty)),
    })
    // Inactive flags are left out of the response.
    const result = flags[key] ?? { key, enabled: false, reason: { description: 'The flag is disabled' } }
    if (options.json) return printJson(result)
    console.log(result.variant ?? String(result.enabled))
    if (result.metadata?.payload !== undefined && result.metadata.payload !== null)
      console.log(`payload: ${result.metadata.payload}`)
    if (result.reason?.description) console.error(`reason: ${result.reason.description}`)
  })

export async function findFlag(api: Api, project: string, key: string, isArchived = false): Promise<Flag> {
  const query = new URLSearchParams({ limit: '1000', search: key, ...(isArchived && { archived: 'true' }) })
  const { results } = await api('GET', `${flagsPath(project)}?${query}`)
  const flag = (results as Flag[]).find(candidate => candidate.key === key)
  if (!flag)
    throw new CommandError(
      `There is no ${isArchived ? 'archived ' : ''}flag "${key}" in this project. See: halyard flags list`,
    )
  return flag
}

const row = ({ key, active, rollout_percentage, name }: Flag) => ({
  key,
  state: active ? 'enabled' : 'disabled',
  rollout: rollout_percentage === null ? 'conditions' : `${rollout_percentage}%`,
  name,
})

export function show(flag: Flag, { json }: Pick<ProjectOptions, 'json'>): void {
  if (json) printJson(flag)
  else printRows([row(flag)], ['key', 'state', 'rollout', 'name'], {})
}

/** `{…}` itself, a file, or `-` for standard input. */
function readJson(argument: string): unknown {
  try {
    return JSON.parse(
      argument.trimStart().startsWith('{') ? argument : readFileSync(argument === '-' ? 0 : argument, 'utf8'),
    )
  } catch (error) {
    throw new UsageError(`--filters is neither JSON nor a readable JSON file: ${(error as Error).message}`)
  }
}

/** `plan=pro`; a value that is JSON (5, true, "5") keeps its type. */
function readProperty(text: string): [string, unknown] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new UsageError(`--property takes name=value, not "${text}".`)
  try {
    return [name, JSON.parse(value)]
  } catch {
    return [name, value]
  }
}
