import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, PageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  IdParam,
  Instant,
  Integer,
  List,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  OneOfInput,
  ProjectParams,
  Text,
} from '../schema.ts'

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
  id: Integer('Unique id of the webhook.', 4),
  name: Text('Name of the webhook.', 'Releases'),
  url: Text('Where events are sent.', 'https://example.com/hooks/halyard'),
  format: Text('`json`, `slack`, `teams` or `discord`.', 'json'),
  events: List(Type.String(), 'Kinds of events; empty for all except `audit`.', ['flag.updated']),
  tag: Nullable(Text('Only events of flags with this tag.', null)),
  enabled: Bool('Whether events are sent.', true),
  failures: Integer('Failed attempts in a row.', 0),
  disabled_reason: Nullable(Text('Why it was disabled automatically: 50 attempts in a row failed.', null)),
  previous_secret_expires_at: Nullable(Instant('After a rotation: until when the previous secret also signs.', null)),
  created_by: UserBasic,
  created_at: Instant('When the webhook was created.'),
  updated_at: Instant('When the webhook was last changed.'),
}
export const Webhook = NamedObject('Webhook', 'An address that is notified of changes in a project.', shownFields)
export type Webhook = Static<typeof Webhook>

const WebhookWithSecret = NamedObject('WebhookWithSecret', 'A webhook with its secret, which is shown once.', {
  ...shownFields,
  secret: Text('Signs what is sent. Shown once.', 'whsec_…'),
})

export const WebhookDelivery = NamedObject(
  'WebhookDelivery',
  'An event that is or was sent to a webhook. Kept for seven days.',
  {
    id: Integer('Unique id of the delivery.', 18),
    event_id: Text('The same for every attempt; sent as `X-Halyard-Delivery`.', '0190a5b2-7c1e-4a53-9f7e-2f1f6f0c9b11'),
    event: Text('Kind of event, or `test`.', 'flag.updated'),
    item_name: Text('What the event is about.', 'new-checkout'),
    status: Type.String({ enum: ['pending', 'delivered', 'failed'], description: 'State of the delivery.' }),
    attempts: Integer('Number of attempts; the eighth is the last.', 1),
    response_status: Nullable(Integer('Status of the last response.', 200)),
    failure: Nullable(Text('Why the last attempt failed.', null)),
    created_at: Instant('When the event happened.'),
    attempted_at: Nullable(Instant('When it was last sent.')),
    next_attempt_at: Nullable(Instant('When it is sent again; null when nothing is left to do.', null)),
  },
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

const fields = {
  name: NonEmptyTextInput(200, 'Name of the webhook.', 'Releases'),
  url: NonEmptyTextInput(
    2000,
    'An http or https address. Private networks are refused unless the operator trusts the origin.',
    'https://example.com/hooks/halyard',
  ),
  format: Type.Optional(Format),
  events: Type.Optional(
    Type.Array(Event, {
      maxItems: webhookEvents.length,
      description:
        'Kinds of events; empty (default) for all except `audit`: entries of the audit log of the organization. It needs the scope `audit_log:read`.',
    }),
  ),
  tag: Type.Optional(Nullable(NonEmptyTextInput(255, 'Only events of flags with this tag.'))),
  enabled: Type.Optional(Bool('Whether events are sent; default true.')),
}

const webhooks = '/api/projects/:project_id/webhooks' as const
const WebhookParams = Type.Object({ ...ProjectParams.properties, webhook_id: IdParam('Id of the webhook.') })
const DeliveryParams = Type.Object({ ...WebhookParams.properties, delivery_id: IdParam('Id of the delivery.') })
const reading = inProject('project:read')
const writing = inProject('project:write')

const projectRoute = routesOf('Webhooks', { params: ProjectParams })
const webhookRoute = routesOf('Webhooks', { params: WebhookParams })
const route = routesOf('Webhooks')

export const webhookRoutes = {
  list: projectRoute.get(webhooks, {
    operationId: 'listWebhooks',
    summary: 'List the webhooks of the project, newest first (admin)',
    description: 'Returns a page of webhooks without their secrets.',
    access: reading,
    query: PageQuery,
    responses: { 200: Page(Webhook) },
  }),
  create: projectRoute.post(webhooks, {
    operationId: 'createWebhook',
    summary: 'Send events of the project to an address (admin)',
    description: 'The response contains the secret that signs what is sent. It is shown once.',
    access: writing,
    body: Type.Object(fields),
    responses: { 201: WebhookWithSecret },
  }),
  get: webhookRoute.get(`${webhooks}/:webhook_id`, {
    operationId: 'getWebhook',
    summary: 'Get a webhook (admin)',
    description: 'Returns the webhook without its secret.',
    access: reading,
    responses: { 200: Webhook },
  }),
  update: webhookRoute.patch(`${webhooks}/:webhook_id`, {
    operationId: 'updateWebhook',
    summary: 'Change a webhook (admin)',
    description: 'Changes only the fields that the body contains. Enabling it again forgets earlier failures.',
    access: writing,
    body: Type.Object({ ...fields, name: Type.Optional(fields.name), url: Type.Optional(fields.url) }),
    responses: { 200: Webhook },
  }),
  remove: webhookRoute.delete(`${webhooks}/:webhook_id`, {
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook and its deliveries (admin)',
    description: 'Events that were not delivered yet are dropped.',
    access: writing,
    responses: { 204: null },
  }),
  rotateSecret: webhookRoute.post(`${webhooks}/:webhook_id/rotate_secret`, {
    operationId: 'rotateWebhookSecret',
    summary: 'Replace the secret of a webhook (admin)',
    description: 'For a day, events carry a signature of the previous secret as well.',
    access: writing,
    responses: { 200: WebhookWithSecret },
  }),
  test: webhookRoute.post(`${webhooks}/:webhook_id/test`, {
    operationId: 'testWebhook',
    summary: 'Send a test event now (admin)',
    description: 'Returns the delivery with the status of the response. A disabled webhook can be tested too.',
    access: writing,
    responses: { 200: WebhookDelivery },
  }),
  listDeliveries: webhookRoute.get(`${webhooks}/:webhook_id/deliveries`, {
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook, newest first (admin)',
    description: 'Returns a page of what was sent in the last seven days, and what waits.',
    access: reading,
    query: PageQuery,
    responses: { 200: Page(WebhookDelivery) },
  }),
  resend: route.post(`${webhooks}/:webhook_id/deliveries/:delivery_id/resend`, {
    operationId: 'resendWebhookDelivery',
    summary: 'Send a delivery again now (admin)',
    description: 'The event keeps its id. Its attempts start over.',
    access: writing,
    params: DeliveryParams,
    responses: { 200: WebhookDelivery },
  }),
}
