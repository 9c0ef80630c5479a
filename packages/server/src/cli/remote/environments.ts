import type { EnvironmentSet, FlagAcrossEnvironments, PromotionPlan } from '@halyard/contract'
import { printJson, printRows } from '../output.ts'
import { CommandError, UsageError } from '../usage.ts'
import { type Api, type RemoteOptions, readAll, withApi } from './api.ts'
import { changeOrRequest } from './approval.ts'
import { describeChange } from './describe-changes.ts'

interface Options extends RemoteOptions {
  readonly organization: string
  readonly json?: boolean
}

const setsPath = ({ organization }: Options): string =>
  `/api/organizations/${encodeURIComponent(organization)}/environment_sets/`

/** `halyard environments list` */
export const listEnvironments = (options: Options): Promise<void> =>
  withApi(options, async api => {
    const sets = await readAll<EnvironmentSet>(api, `${setsPath(options)}?`)
    if (options.json) return printJson(sets)
    const rows = sets.flatMap(set =>
      set.environments.map(({ name, project, is_production }) => ({
        set: set.name,
        set_id: set.id,
        environment: name,
        project,
        production: is_production ? 'yes' : 'no',
      })),
    )
    printRows(rows, ['set', 'set_id', 'environment', 'project', 'production'], {})
  })

/** `halyard environments compare` */
export const compareEnvironments = (
  options: Options & { readonly set?: string; readonly all?: boolean; readonly search?: string },
): Promise<void> =>
  withApi(options, async api => {
    const set = await findSet(api, options)
    const query = new URLSearchParams({
      ...(!options.all && { differs: '1' }),
      ...(options.search && { search: options.search }),
    })
    const flags = await readAll<FlagAcrossEnvironments>(api, `${setsPath(options)}${set.id}/flags/?${query}&`)
    if (options.json) return printJson(flags)
    const names = set.environments.map(({ name }) => name)
    const rows = flags.map(({ key, environments }) => ({
      key,
      ...Object.fromEntries(environments.map((flag, index) => [names[index], stateOf(flag)])),
    }))
    printRows<Record<string, unknown>>(rows, ['key', ...names], {})
  })

function stateOf(flag: FlagAcrossEnvironments['environments'][number]): string {
  if (flag.flag_id === null) return '-'
  const rollout = flag.rollout_percentage === null ? 'conditions' : `${flag.rollout_percentage}%`
  return `${flag.active ? 'enabled' : 'disabled'} ${rollout}`
}

/** `halyard promote <keys…> --from <environment> --to <environment>` */
export const promote = (
  keys: readonly string[],
  options: Options & {
    readonly set?: string
    readonly from: string
    readonly to: string
    readonly parts?: string
    readonly dryRun?: boolean
    readonly requestApproval?: boolean
  },
): Promise<void> =>
  withApi(options, async api => {
    const set = await findSet(api, options)
    const path = `${setsPath(options)}${set.id}/promote/`
    const body = {
      feature_flag_keys: keys,
      from: findEnvironment(set, options.from),
      to: findEnvironment(set, options.to),
      ...(options.parts !== undefined && { parts: options.parts.split(',') }),
    }
    const plan: PromotionPlan = await api('POST', `${path}plan/`, body)
    if (!options.dryRun) {
      const done = await changeOrRequest(
        { ...options, project: String(body.to) },
        {
          needsApproval: async () => plan.items.some(({ requires }) => requires.length > 0),
          write: () => api('POST', path, { ...body, hash: plan.hash }),
        },
      )
      if (!done) return
    }
    if (options.json) return printJson(plan)
    for (const { key, action, changes, needs } of plan.items) {
      console.log(`${key}: ${action === 'none' ? 'is the same' : action}`)
      for (const line of changes.flatMap(describeChange)) console.log(`  ${line}`)
      if (needs.cohorts.length > 0) console.log(`  creates the cohorts ${needs.cohorts.join(', ')}`)
    }
    console.log(options.dryRun ? 'Nothing was changed.' : `Promoted from ${options.from} to ${options.to}.`)
  })

async function findSet(api: Api, options: Options & { readonly set?: string }): Promise<EnvironmentSet> {
  const sets = await readAll<EnvironmentSet>(api, `${setsPath(options)}?`)
  const named =
    options.set === undefined ? sets : sets.filter(({ id, name }) => [String(id), name].includes(options.set!))
  const [set, ...others] = named
  if (set && others.length === 0) return set
  const available = sets.map(({ id, name }) => `${id} (${name})`).join(', ')
  if (sets.length === 0)
    throw new CommandError('There are no environment sets. Create one in the dashboard or with the API.')
  throw new UsageError(`Name one environment set with --set <id>: ${available}.`)
}

/** By its name, or by the id of its project. */
function findEnvironment(set: EnvironmentSet, text: string): number {
  const environment = set.environments.find(({ name, project }) => name === text || String(project) === text)
  if (environment) return environment.project
  const names = set.environments.map(({ name }) => name).join(', ')
  throw new UsageError(`"${text}" is no environment of ${set.name}. It has: ${names}.`)
}
