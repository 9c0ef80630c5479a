import type { ActivityEntry } from '@halyard/contract'
import { printJson, printRows } from '../output.ts'
import { type Api, type ProjectOptions, projectPath, withApi } from './api.ts'
import { describeChange } from './describe-changes.ts'
import { findFlag, flagsPath } from './flags.ts'

interface Options extends ProjectOptions {
  readonly limit: number
}

/** `halyard activity` */
export const projectActivity = (
  options: Options & { readonly of: 'flags' | 'cohorts'; readonly user?: string },
): Promise<void> =>
  withApi(options, api => {
    const objects = options.of === 'flags' ? 'feature_flags' : 'cohorts'
    const query = options.user === undefined ? {} : { user: options.user }
    return print(api, `${projectPath(options)}${objects}/activity/`, query, options)
  })

/** `halyard flags history <key>` */
export const flagHistory = (key: string, options: Options): Promise<void> =>
  withApi(options, async api => {
    const { id } = await findFlag(api, options.project, key)
    await print(api, `${flagsPath(options.project)}${id}/activity/`, {}, options)
  })

/** A line for each value that was changed. */
async function print(api: Api, path: string, query: Record<string, string>, options: Options): Promise<void> {
  const parameters = new URLSearchParams({ ...query, limit: String(options.limit) })
  const { results } = await api('GET', `${path}?${parameters}`)
  if (options.json) return printJson(results)
  const rows = (results as ActivityEntry[]).flatMap(({ created_at, activity, user, detail }) => {
    const lines = (detail.changes ?? []).flatMap(describeChange)
    const entry = {
      time: created_at,
      user: (user.email as string) || 'system',
      activity,
      item: detail.name,
    }
    const [first = '', ...others] = lines
    return [
      { ...entry, change: first },
      ...others.map(change => ({ time: '', user: '', activity: '', item: '', change })),
    ]
  })
  printRows(rows, ['time', 'user', 'activity', 'item', 'change'], {})
}
