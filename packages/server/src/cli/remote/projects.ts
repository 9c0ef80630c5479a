import { printJson, printRows } from '../output.ts'
import { type RemoteOptions, withApi } from './api.ts'

type Options = RemoteOptions & { readonly json?: boolean }

/** `halyard projects list` */
export const listProjects = (options: Options): Promise<void> =>
  withApi(options, async api => {
    const { results } = await api('GET', '/api/projects/?limit=1000')
    if (options.json) return printJson(results)
    printRows(results, ['id', 'name', 'organization', 'api_token'], {})
  })

/** `halyard projects create <name>` */
export const createProject = (name: string, options: Options & { readonly organization?: string }): Promise<void> =>
  withApi(options, async api => {
    const project = await api('POST', '/api/projects/', {
      name,
      ...(options.organization !== undefined && { organization: options.organization }),
    })
    if (options.json) return printJson(project)
    printRows([project], ['id', 'name', 'organization', 'api_token'], {})
  })
