import type { Inbox, InboxItem } from '@halyard/contract'
import type { ChangeRequest, Decision } from '../../../domain/change-request.ts'
import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project, User } from '../../../tenancy.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { countWaiting } from '../requests/waiting-requests.ts'

const requestsMax = 100
const itemsMax = 50

type News = Omit<InboxItem, 'is_unread'>

/** What waits for a user, and what others did with requests that the user takes part in. */
export async function readInbox(tx: Stores, actor: Actor, project: Project): Promise<Inbox> {
  const { user } = actor
  const seenUntil = await tx.inbox.seenUntil(project.id, user.id)
  const own = await tx.changeRequests.list(project.id, { requesterId: user.id }, { limit: requestsMax, offset: 0 })
  const decisions = await tx.changeRequests.listDecisions(own.items.map(({ id }) => id))
  const comments = await tx.inbox.receivedComments(project.id, user.id, itemsMax)
  const news: News[] = [
    ...own.items.flatMap(request => newsOf(request, decisions, user)),
    ...comments.map(comment => ({
      kind: 'commented',
      at: comment.createdAt,
      by: userToWire(comment.createdBy),
      request_id: comment.requestId,
      title: comment.title,
      state: comment.state,
      flag_id: comment.flagId,
      text: comment.text,
    })),
  ]
  const results = news
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, itemsMax)
    .map(item => ({ ...item, is_unread: seenUntil === null || item.at > seenUntil }))
  return {
    waiting: await countWaiting(tx, actor, project),
    unread: results.filter(({ is_unread }) => is_unread).length,
    seen_until: seenUntil,
    results,
  }
}

/** Ends that no decision explains. */
const endStates: readonly string[] = ['cancelled', 'expired', 'failed', 'conflicted']

function newsOf(request: ChangeRequest, decisions: readonly Decision[], { id: userId }: User): readonly News[] {
  const { id, title, state, flagId, appliedAt, appliedBy, updatedAt, failure } = request
  const about = { request_id: id, title, state, flag_id: flagId }
  const made = decisions.filter(({ changeRequestId, user }) => changeRequestId === id && user.id !== userId)
  const decided = made.map(({ decision, decidedAt, user, reason }) => ({
    ...about,
    kind: decision,
    at: decidedAt,
    by: userToWire(user),
    text: reason,
  }))
  // The last approval usually applies the change: that is one item, not two.
  const isAppliedLater =
    appliedAt !== null && appliedBy?.id !== userId && !made.some(({ user }) => user.id === appliedBy?.id)
  const applied = (at: Instant) => ({ ...about, kind: 'applied', at, by: appliedBy && userToWire(appliedBy), text: '' })
  const ended = { ...about, kind: state, at: updatedAt, by: null, text: failure ?? '' }
  return [...decided, ...(isAppliedLater ? [applied(appliedAt)] : []), ...(endStates.includes(state) ? [ended] : [])]
}
