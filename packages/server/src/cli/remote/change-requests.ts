import type { ChangeRequest, ChangeRequestDetail } from '@halyard/contract'
import { printJson, printRows } from '../output.ts'
import { type ProjectOptions, projectPath, withApi } from './api.ts'
import { describeChange } from './describe-changes.ts'

const requestsPath = (options: ProjectOptions): string => `${projectPath(options)}change_requests/`

/** `halyard requests list` */
export const listRequests = (
  options: ProjectOptions & { readonly state?: string; readonly mine?: boolean; readonly limit: number },
): Promise<void> =>
  withApi(options, async api => {
    const query = new URLSearchParams({
      limit: String(options.limit),
      ...(options.state !== undefined && { state: options.state }),
      ...(options.mine && { mine: '1' }),
    })
    const { results } = await api('GET', `${requestsPath(options)}?${query}`)
    if (options.json) return printJson(results)
    const rows = (results as ChangeRequest[]).map(({ id, state, title, created_by, created_at }) => ({
      id,
      state,
      title,
      by: created_by.email,
      opened: created_at,
    }))
    printRows(rows, ['id', 'state', 'title', 'by', 'opened'], {})
  })

/** `halyard requests show <id>` */
export const showRequest = (id: number, options: ProjectOptions): Promise<void> =>
  withApi(options, async api => {
    const request: ChangeRequestDetail = await api('GET', `${requestsPath(options)}${id}/`)
    if (options.json) return printJson(request)
    describe(request)
  })

/** `halyard requests approve|reject <id>`: of the content that is shown, whatever is edited meanwhile. */
export const decideRequest = (
  id: number,
  decision: 'approve' | 'reject',
  options: ProjectOptions & { readonly reason?: string },
): Promise<void> =>
  withApi(options, async api => {
    const request: ChangeRequestDetail = await api('GET', `${requestsPath(options)}${id}/`)
    if (!options.json) describe(request)
    const outcome = await api('POST', `${requestsPath(options)}${id}/${decision}/`, {
      content_hash: request.content_hash,
      ...(options.reason !== undefined && { reason: options.reason }),
    })
    if (options.json) return printJson(outcome)
    console.log(outcome.message)
  })

function describe(request: ChangeRequestDetail): void {
  const { id, title, state, reason, created_by, impact_now: impact, approvals, policies, conflicts } = request
  console.log(`Change request ${id}: ${title} (${state})`)
  console.log(`Opened by ${created_by.email}${reason === '' ? '' : `: ${reason}`}`)
  for (const line of request.changes.flatMap(describeChange)) console.log(`  ${line}`)
  if (impact) console.log(`Impact: ${impact.affected} people, ${impact.gains} gain, ${impact.losses} lose.`)
  for (const { action_key, approved, quorum } of policies) console.log(`Policy ${action_key}: ${approved} of ${quorum}`)
  for (const { created_by: by, decision, reason: why, is_current } of approvals) {
    console.log(`${decision} by ${by.email}${why === '' ? '' : `: ${why}`}${is_current ? '' : ' (earlier content)'}`)
  }
  if (conflicts.length > 0) console.log(`Conflicts: ${conflicts.join(', ')}`)
}
