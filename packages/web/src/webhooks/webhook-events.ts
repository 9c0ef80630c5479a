import type { WebhookEvent } from '@halyard/contract'

/** In the order in which they are offered. An event that is missing here does not compile. */
const offered: Readonly<Record<WebhookEvent, true>> = {
  'flag.created': true,
  'flag.updated': true,
  'flag.deleted': true,
  'flag.rolled_back': true,
  'change_request.opened': true,
  'change_request.approved': true,
  'change_request.rejected': true,
  'change_request.applied': true,
  'change_request.failed': true,
  'emergency.applied': true,
  'freeze.created': true,
  'freeze.ended': true,
}

export const webhookEvents = Object.keys(offered) as WebhookEvent[]
