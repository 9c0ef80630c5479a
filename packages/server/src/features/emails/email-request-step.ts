import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import type { Author } from '../activity/activity.ts'
import { type ChangeRequest, canDecide } from '../approvals/requests/change-request.ts'
import { previewRequest, requiredPolicies } from '../approvals/requests/preview-request.ts'

export interface RequestStep {
  readonly activity: string
  readonly reason: string
}

type Audience = 'approvers' | 'requester' | 'admins'

interface Notice {
  readonly to: readonly Audience[]
  /** Begins the subject. */
  readonly what: string
}

/** The steps that someone has to act on or waits for. */
const notices: Readonly<Record<string, Notice>> = {
  change_requested: { to: ['approvers'], what: 'Approval requested' },
  change_rebased: { to: ['approvers'], what: 'Approval requested again' },
  change_rescheduled: { to: ['approvers'], what: 'Approval requested again' },
  change_pending: { to: ['approvers', 'requester'], what: 'Approval needed again' },
  change_missed_time: { to: ['approvers', 'requester'], what: 'Not approved in time' },
  change_approved: { to: ['requester'], what: 'Change approved' },
  change_rejected: { to: ['requester'], what: 'Change rejected' },
  change_applied: { to: ['requester'], what: 'Change applied' },
  change_frozen: { to: ['requester'], what: 'Change waits for the end of a freeze' },
  change_conflicted: { to: ['requester'], what: 'Change conflicts with another one' },
  change_failed: { to: ['requester'], what: 'Change could not be applied' },
  change_expired: { to: ['requester'], what: 'Change request expired' },
  emergency_applied: { to: ['admins'], what: 'Emergency change to review' },
}

const recipientsMax = 100

/** Queues emails about a step of a change request. The user who took the step gets none. */
export async function emailRequestStep(
  tx: Stores,
  author: Author,
  project: Project,
  request: ChangeRequest,
  { activity, reason }: RequestStep,
  now: Instant,
): Promise<void> {
  const notice = notices[activity]
  // The last approval usually applies the change: that is one email, not two.
  const isRepeated = activity === 'change_approved' && (request.state !== 'approved' || request.applyAt === null)
  if (!tx.emails.isEnabled || !notice || isRepeated) return
  const ids = new Set<number>()
  for (const audience of notice.to) {
    for (const id of await audiences[audience](tx, project, request)) ids.add(id)
  }
  if (author) ids.delete(author.user.id)
  const recipients = await tx.identity.listEmails([...ids].slice(0, recipientsMax))
  const who = author ? author.user.email : 'Halyard'
  await tx.emails.enqueue(
    recipients.map(recipient => ({
      organizationId: project.organizationId,
      recipient,
      subject: `[${project.name}] ${notice.what}: ${request.title}`,
      text: [`${notice.what}: ${request.title}`, `By ${who}`, ...(reason === '' ? [] : [`Reason: ${reason}`])],
      path: `/project/${project.id}/requests/${request.id}`,
    })),
    now,
  )
}

const audiences: Readonly<
  Record<Audience, (tx: Stores, project: Project, request: ChangeRequest) => Promise<Iterable<number>>>
> = {
  async approvers(tx, project, request) {
    if (request.state !== 'pending') return []
    const statuses = await requiredPolicies(tx, project, request, await previewRequest(tx, project, request))
    return statuses.flatMap(status => [...status.eligible].filter(id => canDecide(request, status, id)))
  },
  requester: async (tx, project, { requester }) =>
    tx.policies.eligible(project.organizationId, { users: [requester.id], roles: [] }),
  admins: (tx, project) => tx.policies.eligible(project.organizationId, { users: [], roles: [] }),
}
