import { createHmac } from 'node:crypto'
import type { AuditEntry } from '@halyard/contract'
import type { Instant } from '../../instant.ts'
import type { Delivery, EventKind, Webhook } from './webhook.ts'

/** What is sent: a body, and the headers that identify and sign it. */
export interface WebhookMessage {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

export interface MessageContext {
  readonly projectName: string
  /** The secrets to sign with: two while a rotation overlaps. */
  readonly secrets: readonly string[]
  readonly now: Instant
  /** Of the audit log. */
  readonly entry?: AuditEntry | undefined
}

export function messageOf(webhook: Webhook, delivery: Delivery, context: MessageContext): WebhookMessage {
  const body = JSON.stringify(formats[webhook.format](webhook, delivery, context))
  const timestamp = String(Math.floor(Date.parse(context.now) / 1000))
  const signatures = context.secrets.map(secret => `v1=${sign(secret, timestamp, body)}`)
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-halyard-event': delivery.kind,
      'x-halyard-delivery': delivery.eventId,
      'x-halyard-signature': [`t=${timestamp}`, ...signatures].join(','),
    },
  }
}

/** HMAC-SHA-256 of `timestamp.body`, in hexadecimal. */
export const sign = (secret: string, timestamp: string, body: string): string =>
  createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')

type Format = (webhook: Webhook, delivery: Delivery, context: MessageContext) => object

const formats: Readonly<Record<Webhook['format'], Format>> = {
  json: ({ projectId, organizationId }, { eventId, kind, event, createdAt }, { projectName, entry }) => ({
    id: eventId,
    type: kind,
    created_at: createdAt,
    organization_id: organizationId,
    project: { id: projectId, name: projectName },
    ...(entry
      ? { entry }
      : {
          actor: { email: event.email, through: event.keyLabel },
          item: { type: event.scope, id: event.itemId, name: event.detail.name },
          changes: event.detail.changes,
          trigger: event.detail.trigger,
        }),
  }),
  // Slack reads &, < and > as markup and mentions.
  slack: (_webhook, delivery, context) => ({
    text: sentenceOf(delivery, context).replace(/[&<>]/g, character => slackEscapes[character]!),
  }),
  teams: (_webhook, delivery, context) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          // A TextBlock would read the names of flags as Markdown.
          body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: sentenceOf(delivery, context) }] }],
        },
      },
    ],
  }),
  // Discord reads Markdown.
  discord: (_webhook, delivery, context) => ({
    content: sentenceOf(delivery, context)
      .replace(/[\\*_~`|[\]]/g, '\\$&')
      .slice(0, discordCharactersMax),
    allowed_mentions: { parse: [] },
  }),
}

const slackEscapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const discordCharactersMax = 2000
const fieldsNamedMax = 10

/** One line for people: what happened, to what, where, which user did it, and why. */
function sentenceOf({ kind, event }: Delivery, { projectName, entry }: MessageContext): string {
  if (entry) {
    const by = entry.actor?.email ?? 'Halyard'
    return `Audit log ${entry.sequence}: ${entry.operation} by ${by}. Hash: ${entry.hash}`
  }
  const { name, changes, trigger } = event.detail
  const who = event.email ?? 'Halyard'
  const through = event.keyLabel ? ` (${event.keyLabel})` : ''
  const fields = [...new Set(changes.flatMap(({ field }) => field ?? []))].slice(0, fieldsNamedMax)
  const what = fields.length > 0 ? `: ${fields.join(', ')}` : ''
  const reason = [trigger?.reason, trigger?.emergency, trigger?.note].find(text => typeof text === 'string') ?? ''
  const why = reason === '' ? '' : `. Reason: ${reason}`
  return `[${projectName}] ${verbs[kind]} "${name}" by ${who}${through}${what}${why}`.replaceAll(/\s+/g, ' ')
}

const verbs: Readonly<Record<EventKind, string>> = {
  'flag.created': 'Flag created:',
  'flag.updated': 'Flag changed:',
  'flag.deleted': 'Flag deleted:',
  'flag.rolled_back': 'Flag rolled back:',
  'change_request.opened': 'Approval requested:',
  'change_request.commented': 'New comment:',
  'change_request.approved': 'Change approved:',
  'change_request.rejected': 'Change rejected:',
  'change_request.applied': 'Change applied:',
  'change_request.failed': 'Change could not be applied:',
  'emergency.applied': 'Emergency change:',
  'freeze.created': 'Changes frozen:',
  'freeze.ended': 'Freeze ended:',
  audit: 'Audit log:',
  test: 'Test message:',
}
