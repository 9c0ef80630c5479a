import type { Author } from '../../../domain/activity.ts'
import { type ChangeRequest, canDecide } from '../../../domain/change-request.ts'
import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { type MailedStep, requestEmail } from '../../emails/request-email.ts'
import { requiredPolicies } from './preview-request.ts'

export interface RequestStep {
  readonly activity: string
  readonly reason: string
}

type Audience = 'approvers' | 'requester' | 'admins'

/** Who has to act on a step, or waits for it. */
const audienceOf: Readonly<Record<MailedStep, readonly Audience[]>> = {
  change_requested: ['approvers'],
  change_rebased: ['approvers'],
  change_rescheduled: ['approvers'],
  change_pending: ['approvers', 'requester'],
  change_missed_time: ['approvers', 'requester'],
  change_commented: ['approvers', 'requester'],
  change_approved: ['requester'],
  change_rejected: ['requester'],
  change_applied: ['requester'],
  change_frozen: ['requester'],
  change_conflicted: ['requester'],
  change_failed: ['requester'],
  change_expired: ['requester'],
  emergency_applied: ['admins'],
}

const isMailed = (activity: string): activity is MailedStep => Object.hasOwn(audienceOf, activity)

const recipientsMax = 100

/** Queues emails about a step of a change request. The user who took the step gets none, nor do those who turned them off. */
export async function emailRequestStep(
  tx: Stores,
  author: Author,
  project: Project,
  request: ChangeRequest,
  { activity, reason }: RequestStep,
  now: Instant,
): Promise<void> {
  // The last approval usually applies the change: that is one email, not two.
  const isRepeated = activity === 'change_approved' && (request.state !== 'approved' || request.applyAt === null)
  if (!tx.emails.isEnabled || !isMailed(activity) || isRepeated) return
  const ids = new Set<number>()
  for (const audience of audienceOf[activity]) {
    for (const id of await audiences[audience](tx, project, request)) ids.add(id)
  }
  if (author) ids.delete(author.user.id)
  const recipients = await tx.identity.listEmailRecipients([...ids], recipientsMax)
  const news = {
    step: activity,
    projectName: project.name,
    title: request.title,
    who: author ? author.user.email : 'Halyard',
    reason,
    path: `/project/${project.id}/requests/${request.id}`,
  }
  const { organizationId } = project
  await tx.emails.enqueue(
    recipients.map(({ email, language }) => ({ organizationId, recipient: email, ...requestEmail(news, language) })),
    now,
  )
}

const audiences: Readonly<
  Record<Audience, (tx: Stores, project: Project, request: ChangeRequest) => Promise<Iterable<number>>>
> = {
  async approvers(tx, project, request) {
    if (request.state !== 'pending') return []
    const statuses = await requiredPolicies(tx, project, request)
    return statuses.flatMap(status => [...status.eligible].filter(id => canDecide(request, status, id)))
  },
  requester: async (tx, project, { requester }) =>
    tx.policies.eligible(project.organizationId, { users: [requester.id], roles: [] }),
  admins: (tx, project) => tx.policies.eligible(project.organizationId, { users: [], roles: [] }),
}
