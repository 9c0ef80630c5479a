import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { NewActivity } from '../../domain/activity.ts'
import { afterAttempt, attemptsMax, type Delivery, kindOf, type Webhook } from './webhook.ts'
import { messageOf } from './webhook-message.ts'

const now = '2026-05-01T09:00:00.000000Z'
const webhook = { projectId: 1, organizationId: 'o', format: 'json' } as Webhook
const delivery = (event: Partial<Delivery['event']> = {}): Delivery => ({
  id: 1,
  webhookId: 1,
  eventId: 'event-1',
  kind: 'flag.updated',
  event: {
    scope: 'FeatureFlag',
    itemId: '12',
    activity: 'updated',
    detail: {
      name: 'new-checkout',
      changes: [{ action: 'changed', field: 'active', before: false, after: true }],
      trigger: { reason: 'Launch <!channel> & party' },
    },
    keyLabel: 'ci',
    email: 'ada@example.com',
    ...event,
  },
  status: 'pending',
  dueAt: now,
  attempts: 0,
  responseStatus: null,
  failure: null,
  createdAt: now,
  attemptedAt: null,
})
const context = { projectName: 'Shop', secrets: ['current', 'previous'], now }
const sent = (format: Webhook['format']) => JSON.parse(messageOf({ ...webhook, format }, delivery(), context).body)

describe('a webhook message', () => {
  it('is signed with its time by the secret, and by the previous one while that is valid', () => {
    const { body, headers } = messageOf(webhook, delivery(), context)
    const timestamp = String(Date.parse(now) / 1000)
    const signatures = ['current', 'previous'].map(
      secret => `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
    )
    expect(headers).toMatchObject({
      'x-halyard-event': 'flag.updated',
      'x-halyard-delivery': 'event-1',
      'x-halyard-signature': `t=${timestamp},${signatures.join(',')}`,
    })
  })

  it('names what, where, who, how and why in each format', () => {
    expect(sent('json')).toMatchObject({
      id: 'event-1',
      type: 'flag.updated',
      project: { id: 1, name: 'Shop' },
      actor: { email: 'ada@example.com', through: 'ci' },
      item: { type: 'FeatureFlag', id: '12', name: 'new-checkout' },
      changes: [{ field: 'active', after: true }],
    })
    const sentence =
      '[Shop] Flag changed: "new-checkout" by ada@example.com (ci): active. Reason: Launch <!channel> & party'
    expect(sent('slack').text).toBe(sentence.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;'))
    expect(sent('teams')).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            body: [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: sentence }] }],
          },
        },
      ],
    })
    const content = sentence.replace('[Shop]', '\\[Shop\\]')
    expect(sent('discord')).toEqual({ content, allowed_mentions: { parse: [] } })
  })

  it('is one line in which the text of users is no Markdown', () => {
    const detail = { name: '__init__ [x](https://evil.example)', changes: [], trigger: { reason: 'one\n\n# two' } }
    const { body } = messageOf({ ...webhook, format: 'discord' }, delivery({ detail } as never), context)
    expect(JSON.parse(body).content).toBe(
      '\\[Shop\\] Flag changed: "\\_\\_init\\_\\_ \\[x\\](https://evil.example)" by ada@example.com (ci). Reason: one # two',
    )
  })
})

describe('a webhook event', () => {
  const entry = (scope: string, activity: string, detail: object = {}) =>
    ({ scope, activity, detail: { name: '', changes: [], trigger: null, ...detail } }) as unknown as NewActivity
  const deleted = { changes: [{ action: 'changed', field: 'deleted', before: false, after: true }] }

  it.each<[NewActivity, string | undefined]>([
    [entry('FeatureFlag', 'created'), 'flag.created'],
    [entry('FeatureFlag', 'updated'), 'flag.updated'],
    [entry('FeatureFlag', 'updated', deleted), 'flag.deleted'],
    [entry('FeatureFlag', 'updated', { trigger: { job_type: 'rollback' } }), 'flag.rolled_back'],
    [entry('FeatureFlag', 'scheduled'), undefined],
    [entry('FeatureFlag', 'change_requested'), 'change_request.opened'],
    [entry('ChangeRequest', 'change_approved'), 'change_request.approved'],
    [entry('Cohort', 'change_rejected'), 'change_request.rejected'],
    [entry('FeatureFlag', 'change_conflicted'), 'change_request.failed'],
    [entry('FeatureFlag', 'emergency_applied'), 'emergency.applied'],
    [entry('Freeze', 'created'), 'freeze.created'],
    [entry('Freeze', 'deleted'), 'freeze.ended'],
    [entry('Plugin', 'installed'), undefined],
    [entry('Webhook', 'created'), undefined],
  ])('%o is %s', (given, kind) => expect(kindOf(given)).toBe(kind))

  it('is retried with growing delays and ends after the last attempt', () => {
    let next = delivery()
    const delays: number[] = []
    for (let n = 0; n < attemptsMax; n++) {
      next = afterAttempt(next, { responseStatus: 500, failure: 'no' }, now)
      delays.push((Date.parse(next.dueAt) - Date.parse(now)) / 1000)
    }
    expect(delays).toEqual([30, 120, 480, 1920, 7680, 21600, 21600, 21600])
    expect(next.status).toBe('failed')
    expect(afterAttempt(delivery(), { responseStatus: 204, failure: null }, now).status).toBe('delivered')
  })
})
