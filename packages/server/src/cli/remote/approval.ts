import { printJson } from '../output.ts'
import { CommandError } from '../usage.ts'
import { type Api, ApiError, type ProjectOptions, projectPath } from './api.ts'

/** Options of every command whose change may need approval. */
export interface GatedOptions extends ProjectOptions {
  readonly requestApproval?: boolean
}

interface GatedChange {
  /** Whether it needs approval; not asked when a request is wanted anyway, or the approval is bypassed. */
  readonly needsApproval: () => Promise<boolean>
  readonly write: () => Promise<unknown>
}

/** Makes a change, or opens its change request when that was asked for. Undefined when a request was opened. */
// biome-ignore lint/suspicious/noExplicitAny: responses of many routes, each read once.
export async function changeOrRequest(options: GatedOptions, change: GatedChange): Promise<any> {
  const isDecided = options.requestApproval || options.emergency !== undefined
  if (!isDecided && (await change.needsApproval())) {
    throw new CommandError(
      'The change needs approval; nothing was changed. Add --request-approval to open a change request.',
    )
  }
  try {
    return await change.write()
  } catch (error) {
    if (!options.requestApproval || !(error instanceof ApiError) || error.changeRequests.length === 0) throw error
    const project = /^\d+$/.test(options.project) ? ` --project ${options.project}` : ''
    if (options.json) printJson({ change_requests: error.changeRequests })
    else
      for (const id of error.changeRequests)
        console.log(`Opened change request ${id}. See: halyard requests show ${id}${project}`)
    return undefined
  }
}

/** Whether a policy asks for approval of these fields; a flag without an id is to be created. */
export async function needsApproval(
  api: Api,
  options: ProjectOptions,
  patch: object,
  flagId?: number,
): Promise<boolean> {
  const { state } = await api('POST', `${projectPath(options)}change_requests/`, {
    ...(flagId !== undefined && { flag_id: flagId }),
    patch,
    dry_run: true,
  })
  return state === 'pending'
}
