import {
  demoCohort,
  demoCompanies,
  demoFlags,
  demoPeople,
  demoPluginName,
  demoPluginSource,
  demoProjectName,
} from './demo-content.ts'
import { readOptions, required, UsageError } from './usage.ts'

const eventsAtOnceMax = 500
const daysOfUsage = 30
const dayMilliseconds = 24 * 60 * 60 * 1000

// biome-ignore lint/suspicious/noExplicitAny: answers of many routes, each read once.
type Api = (method: string, path: string, body?: unknown) => Promise<any>

/** `halyard demo [--remove]`: fills a project of its own through the same API as everybody, or takes it away again. */
export async function demo(args: string[]): Promise<void> {
  const isRemoval = args.includes('--remove')
  const { values } = readOptions(
    args.filter(arg => arg !== '--remove'),
    ['url', 'key'],
  )
  const url = (values.url ?? process.env.HALYARD_URL ?? 'http://127.0.0.1:8000').replace(/\/+$/, '')
  const api = connect(url, required(values.key ?? process.env.HALYARD_KEY, '--key (or HALYARD_KEY)'))
  await remove(api)
  if (isRemoval) return console.log('The demo is gone.')
  const project = await fill(api, new Date())
  console.log(`The demo is at ${url}/project/${project.id}/flags\nTake it away again with: halyard demo --remove`)
}

const connect =
  (url: string, key: string): Api =>
  async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => {
      throw new UsageError(`There is no Halyard at ${url}. Start it, or name another with --url.`)
    })
    const text = await response.text()
    if (!response.ok) throw new UsageError(`${method} ${path} was answered ${response.status}: ${text.slice(0, 300)}`)
    return text === '' ? undefined : JSON.parse(text)
  }

async function remove(api: Api): Promise<void> {
  const projects = await api('GET', '/api/projects/?limit=1000')
  for (const { id, name } of projects.results) {
    if (name === demoProjectName) await api('DELETE', `/api/projects/${id}/`)
  }
  const plugins = await api('GET', '/api/organizations/@current/plugins/?limit=1000')
  for (const { id, name } of plugins.results) {
    if (name === demoPluginName) await api('DELETE', `/api/organizations/@current/plugins/${id}/`)
  }
}

async function fill(api: Api, now: Date): Promise<{ id: number }> {
  const project = await api('POST', '/api/projects/', { name: demoProjectName })
  const send = async (batch: unknown[]) => {
    for (let from = 0; from < batch.length; from += eventsAtOnceMax) {
      await api('POST', '/batch/', { api_key: project.api_token, batch: batch.slice(from, from + eventsAtOnceMax) })
    }
  }
  await send([...peopleEvents(), ...companyEvents()])
  const path = `/api/projects/${project.id}`
  const cohort = await api('POST', `${path}/cohorts/`, demoCohort)
  const flags = demoFlags(cohort.id)
  for (const { flag } of flags) await api('POST', `${path}/feature_flags/`, flag)
  await send(flags.flatMap(({ flag, answers }) => usageEvents(flag.key, answers, now)))
  const plugin = await api('POST', '/api/organizations/@current/plugins/', {
    plugin_type: 'source',
    name: demoPluginName,
  })
  await api('PATCH', `/api/organizations/@current/plugins/${plugin.id}/update_source/`, demoPluginSource)
  return project
}

const peopleEvents = (): unknown[] =>
  demoPeople.map(({ distinctId, properties, company }) => ({
    event: '$identify',
    distinct_id: distinctId,
    properties: { $set: properties, $groups: { company } },
  }))

const companyEvents = (): unknown[] =>
  demoCompanies.map(({ key, properties }) => ({
    event: '$groupidentify',
    distinct_id: 'demo',
    properties: { $group_type: 'company', $group_key: key, $group_set: properties },
  }))

/** A month of calls that grow from day to day, with quieter weekends. */
function usageEvents(key: string, answers: Readonly<Record<string, number>>, now: Date): unknown[] {
  const weighted = Object.entries(answers).flatMap(([answer, weight]) => Array<string>(weight ?? 0).fill(answer))
  if (weighted.length === 0) return []
  return Array.from({ length: daysOfUsage }, (_, index) => {
    const day = new Date(now.getTime() - (daysOfUsage - 1 - index) * dayMilliseconds)
    const isWeekend = day.getUTCDay() % 6 === 0
    const calls = Math.round((8 + index) * (isWeekend ? 0.5 : 1))
    return Array.from({ length: calls }, (_call, call) => {
      const answer = weighted[(call * 7 + index) % weighted.length] ?? 'false'
      return {
        event: '$feature_flag_called',
        distinct_id: demoPeople[(call * 11 + index * 3) % demoPeople.length]?.distinctId,
        timestamp: day.toISOString(),
        properties: {
          $feature_flag: key,
          $feature_flag_response: answer === 'true' ? true : answer === 'false' ? false : answer,
        },
      }
    })
  }).flat()
}
