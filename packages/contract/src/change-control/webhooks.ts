import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, PageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import { IdParam, Instant, Nullable, OneOfInput, ProjectParams } from '../schema.ts'

/** What a webhook can be notified of. */
export const webhookEvents = [
  'flag.created',
  'flag.updated',
  'flag.deleted',
  'flag.rolled_back',
  'change_request.opened',
  'change_request.commented',
  'change_request.approved',
  'change_request.rejected',
  'change_request.applied',
  'change_request.failed',
  'emergency.applied',
  'freeze.created',
  'freeze.ended',
  'audit',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

const Event = OneOfInput(webhookEvents, { description: 'A kind of event.', examples: ['flag.updated'] })
const Format = Type.Union(
  [Type.Literal('json'), Type.Literal('slack'), Type.Literal('teams'), Type.Literal('discord')],
  { description: 'What the receiver understands; default `json`.', examples: ['json'] },
)

const shownFields = {
  id: Type.Integer({ description: 'Unique id of the webhook.', examples: [4] }),
  name: Type.String({ description: 'Name of the webhook.', examples: ['Releases'] }),
  url: Type.String({ description: 'Where events are sent.', examples: ['https://example.com/hooks/halyard'] }),
  format: Type.String({ description: '`json`, `slack`, `teams` or `discord`.', examples: ['json'] }),
  events: Type.Array(Type.String(), {
    description: 'Kinds of events; empty for all except `audit`.',
    examples: [['flag.updated']],
  }),
  tag: Nullable(Type.String({ description: 'Only events of flags with this tag.', examples: [null] })),
  enabled: Type.Boolean({ description: 'Whether events are sent.', examples: [true] }),
  failures: Type.Integer({ description: 'Failed attempts in a row.', examples: [0] }),
  disabled_reason: Nullable(
    Type.String({ description: 'Why it was disabled automatically: 50 attempts in a row failed.', examples: [null] }),
  ),
  previous_secret_expires_at: Nullable(Instant('After a rotation: until when the previous secret also signs.', null)),
  created_by: UserBasic,
  created_at: Instant('When the webhook was created.'),
  updated_at: Instant('When the webhook was last changed.'),
}
export const Webhook = Type.Object(shownFields, {
  title: 'Webhook',
  description: 'An address that is notified of changes in a project.',
})
export type Webhook = Static<typeof Webhook>

const WebhookWithSecret = Type.Object(
  {
    ...shownFields,
    secret: Type.String({ description: 'Signs what is sent. Shown once.', examples: ['whsec_…'] }),
  },
  { title: 'WebhookWithSecret', description: 'A webhook with its secret, which is shown once.' },
)

export const WebhookDelivery = Type.Object(
  {
    id: Type.Integer({ description: 'Unique id of the delivery.', examples: [18] }),
    event_id: Type.String({
      description: 'The same for every attempt; sent as `X-Halyard-Delivery`.',
      examples: ['0190a5b2-7c1e-4a53-9f7e-2f1f6f0c9b11'],
    }),
    event: Type.String({ description: 'Kind of event, or `test`.', examples: ['flag.updated'] }),
    item_name: Type.String({ description: 'What the event is about.', examples: ['new-checkout'] }),
    status: Type.String({ enum: ['pending', 'delivered', 'failed'], description: 'State of the delivery.' }),
    attempts: Type.Integer({ description: 'Number of attempts; the eighth is the last.', examples: [1] }),
    response_status: Nullable(Type.Integer({ description: 'Status of the last response.', examples: [200] })),
    failure: Nullable(Type.String({ description: 'Why the last attempt failed.', examples: [null] })),
    created_at: Instant('When the event happened.'),
    attempted_at: Nullable(Instant('When it was last sent.')),
    next_attempt_at: Nullable(Instant('When it is sent again; null when nothing is left to do.', null)),
  },
  { title: 'WebhookDelivery', description: 'An event that is or was sent to a webhook. Kept for seven days.' },
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

const fields = {
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Name of the webhook.', examples: ['Releases'] }),
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: 'An http or https address. Private networks are refused unless the operator trusts the origin.',
    examples: ['https://example.com/hooks/halyard'],
  }),
  format: Type.Optional(Format),
  events: Type.Optional(
    Type.Array(Event, {
      maxItems: webhookEvents.length,
      description:
        'Kinds of events; empty (default) for all except `audit`: entries of the audit log of the organization. It needs the scope `audit_log:read`.',
    }),
  ),
  tag: Type.Optional(
    Nullable(Type.String({ minLength: 1, maxLength: 255, description: 'Only events of flags with this tag.' })),
  ),
  enabled: Type.Optional(Type.Boolean({ description: 'Whether events are sent; default true.' })),
}

const route = routesOf('Webhooks')
const webhooks = '/api/projects/:project_id/webhooks' as const
const WebhookParams = Type.Object({ ...ProjectParams.properties, webhook_id: IdParam('Id of the webhook.') })
const DeliveryParams = Type.Object({ ...WebhookParams.properties, delivery_id: IdParam('Id of the delivery.') })
const reading = inProject('project:read')
const writing = inProject('project:write')

export const webhookRoutes = {
  list: route({
    method: 'GET',
    path: webhooks,
    operationId: 'listWebhooks',
    summary: 'List the webhooks of the project, newest first (admin)',
    description: 'Returns a page of webhooks without their secrets.',
    access: reading,
    params: ProjectParams,
    query: PageQuery,
    responses: { 200: Page(Webhook) },
  }),
  create: route({
    method: 'POST',
    path: webhooks,
    operationId: 'createWebhook',
    summary: 'Send events of the project to an address (admin)',
    description: 'The response contains the secret that signs what is sent. It is shown once.',
    access: writing,
    params: ProjectParams,
    body: Type.Object(fields),
    responses: { 201: WebhookWithSecret },
  }),
  get: route({
    method: 'GET',
    path: `${webhooks}/:webhook_id`,
    operationId: 'getWebhook',
    summary: 'Get a webhook (admin)',
    description: 'Returns the webhook without its secret.',
    access: reading,
    params: WebhookParams,
    responses: { 200: Webhook },
  }),
  update: route({
    method: 'PATCH',
    path: `${webhooks}/:webhook_id`,
    operationId: 'updateWebhook',
    summary: 'Change a webhook (admin)',
    description: 'Changes only the fields that the body contains. Enabling it again forgets earlier failures.',
    access: writing,
    params: WebhookParams,
    body: Type.Object({ ...fields, name: Type.Optional(fields.name), url: Type.Optional(fields.url) }),
    responses: { 200: Webhook },
  }),
  remove: route({
    method: 'DELETE',
    path: `${webhooks}/:webhook_id`,
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook and its deliveries (admin)',
    description: 'Events that were not delivered yet are dropped.',
    access: writing,
    params: WebhookParams,
    responses: { 204: null },
  }),
  rotateSecret: route({
    method: 'POST',
    path: `${webhooks}/:webhook_id/rotate_secret`,
    operationId: 'rotateWebhookSecret',
    summary: 'Replace the secret of a webhook (admin)',
    description: 'For a day, events carry a signature of the previous secret as well.',
    access: writing,
    params: WebhookParams,
    responses: { 200: WebhookWithSecret },
  }),
  test: route({
    method: 'POST',
    path: `${webhooks}/:webhook_id/test`,
    operationId: 'testWebhook',
    summary: 'Send a test event now (admin)',
    description: 'Returns the delivery with the status of the response. A disabled webhook can be tested too.',
    access: writing,
    params: WebhookParams,
    responses: { 200: WebhookDelivery },
  }),
  listDeliveries: route({
    method: 'GET',
    path: `${webhooks}/:webhook_id/deliveries`,
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook, newest first (admin)',
    description: 'Returns a page of what was sent in the last seven days, and what waits.',
    access: reading,
    params: WebhookParams,
    query: PageQuery,
    responses: { 200: Page(WebhookDelivery) },
  }),
  resend: route({
    method: 'POST',
    path: `${webhooks}/:webhook_id/deliveries/:delivery_id/resend`,
    operationId: 'resendWebhookDelivery',
    summary: 'Send a delivery again now (admin)',
    description: 'The event keeps its id. Its attempts start over.',
    access: writing,
    params: DeliveryParams,
    responses: { 200: WebhookDelivery },
  }),
}
