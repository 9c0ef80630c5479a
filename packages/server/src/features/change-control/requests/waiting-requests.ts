import { canDecide, type RequestFilter } from '../../../domain/change-request.ts'
import type { Window } from '../../../pagination.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { requiredPoliciesOfAll } from './preview-request.ts'

const waitingMax = 1000

/** Pending requests that the caller can decide about. Who can depends on policies and roles, so they are filtered here. */
export async function waitingFor(tx: Stores, actor: Actor, project: Project, filter: RequestFilter, window: Window) {
  const wanted = { ...filter, states: ['pending'] as const, undecidedBy: actor.user.id }
  const { items } = await tx.changeRequests.list(project.id, wanted, { limit: waitingMax, offset: 0 })
  const statuses = await requiredPoliciesOfAll(tx, project, items)
  const waiting = items.filter((request, index) =>
    statuses[index]!.some(status => canDecide(request, status, actor.user.id)),
  )
  return { count: waiting.length, items: waiting.slice(window.offset, window.offset + window.limit) }
}

export const countWaiting = async (tx: Stores, actor: Actor, project: Project): Promise<number> =>
  (await waitingFor(tx, actor, project, {}, { limit: 1, offset: 0 })).count
