import Type from 'typebox'
import { FlagDefinition } from '../flags/flag-definition.ts'
import { type Credential, open, routesOf } from '../route.ts'
import {
  Bool,
  EventStream,
  FreeObject,
  Integer,
  List,
  NamedObject,
  Nullable,
  ObjectOf,
  ShapedObject,
  shapeKeyword,
  Text,
} from '../schema.ts'

/**
 * The paths that SDKs call. They are declared here for OpenAPI and have separate handlers, because their bodies use other
 * encodings (gzip, base64 forms) and their credentials are tokens, not personal keys.
 */

const evaluationRoute = routesOf('Evaluation (project token)', { access: open })
const eventsRoute = routesOf('Events (project token)', { access: open })
const ofrepRoute = routesOf('OFREP (project token or secret key)', { access: open })
const definitionsRoute = routesOf('Definitions (personal or project secret key)', { access: open })

const token = 'phc_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n'

const EvaluationRequest = NamedObject(
  'EvaluationRequest',
  'The person to evaluate flags for.',
  {
    token: Text('The project token, `phc_…`.', token),
    distinct_id: Text('Id of the person.', 'user-1'),
    groups: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Group type → group key.',
        examples: [{ company: 'acme' }],
      }),
    ),
    person_properties: Type.Optional(
      FreeObject('Properties of the person, in addition to the stored ones.', { plan: 'pro' }),
    ),
    group_properties: Type.Optional(FreeObject('Group type → properties.', { company: { plan: 'enterprise' } })),
    flag_keys_to_evaluate: Type.Optional(List(Type.String(), 'Only these flags; all by default.')),
    $anon_distinct_id: Type.Optional(Text('Distinct id before sign-in.')),
    $device_id: Type.Optional(Text('Device id, for flags that bucket by device.')),
    evaluation_contexts: Type.Optional(List(Type.String(), 'Only flags without contexts or with one of these.')),
    evaluation_runtime: Type.Optional(
      Type.String({ enum: ['server', 'client'], description: 'Where the SDK runs; detected by default.' }),
    ),
  },
  { token, distinct_id: 'user-1', person_properties: { plan: 'pro' } },
)
const FlagDetail = NamedObject('EvaluatedFlag', 'The value of a flag for one person.', {
  key: Text('Key of the flag.', 'new-checkout'),
  enabled: Bool('Whether the flag is on.', true),
  variant: Nullable(Text('Key of the variant.', null)),
  reason: ObjectOf('Why the flag has this value.', {
    code: Text('Code of the reason.', 'condition_match'),
    condition_index: Nullable(Integer('Index of the condition that decided.', 0)),
    description: Text('The reason in words.', 'Matched condition set 1'),
  }),
  metadata: ObjectOf('Details of the flag.', {
    id: Integer('Id of the flag.', 12),
    version: Integer('Version of the flag.', 1),
    description: Type.Null({ description: 'Always null.' }),
    payload: Nullable(Text('JSON text.', null)),
    has_experiment: Bool('Always false.', false),
  }),
})
const evaluated = {
  errorsWhileComputingFlags: Bool('Whether a flag could not be evaluated, or stored data was unavailable.', false),
  requestId: Text('Same as the header `X-Request-Id`.', '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d'),
  evaluatedAt: Integer('Milliseconds since 1970.', 1_772_357_400_000),
}
const EvaluationAnswer = NamedObject('EvaluationResult', 'Values with reasons.', {
  ...evaluated,
  flags: Type.Record(Type.String(), FlagDetail, { description: 'Flag key → value.' }),
})
const EvaluationValues = NamedObject('EvaluationValues', 'With `v=1`: values and payloads.', {
  ...evaluated,
  featureFlags: FreeObject('Flag key → variant, true or false.', { 'new-checkout': true }),
  featureFlagPayloads: FreeObject('Flag key → payload as JSON text.', {}),
})
const DecideAnswer = NamedObject(
  'DecideResult',
  'Values of flags, and the configuration of older clients.',
  {
    featureFlags: Type.Optional(
      Type.Unknown({
        description: 'Flag key → value; with `v=1` the list of enabled keys.',
        examples: [{ 'new-checkout': true }],
      }),
    ),
    featureFlagPayloads: Type.Optional(FreeObject('Flag key → payload as JSON text.', {})),
    flags: Type.Optional(Type.Record(Type.String(), FlagDetail, { description: 'With `v=4`: flag key → value.' })),
    errorsWhileComputingFlags: Type.Optional(evaluated.errorsWhileComputingFlags),
  },
  { featureFlags: { 'new-checkout': true }, featureFlagPayloads: {}, errorsWhileComputingFlags: false },
)
const Definitions = NamedObject('FlagDefinitions', 'Definitions for SDKs that evaluate locally.', {
  flags: List(ShapedObject(FlagDefinition), 'Definitions of the flags.'),
  group_type_mapping: Type.Record(Type.String(), Type.String(), {
    description: 'Group type index → name.',
    examples: [{ 0: 'company' }],
  }),
  cohorts: FreeObject('Cohort id → property groups; empty without `send_cohorts`.', {}),
  property_matching_version: Integer('How `exact` compares; see the project.', 2),
})
const event = {
  event: Text('Name of the event.', 'checkout completed'),
  distinct_id: Type.Optional(Text('Id of the person; can be in `properties` instead.', 'user-1')),
  properties: Type.Optional(FreeObject('Properties of the event.', { amount: 42 })),
  timestamp: Type.Optional(Text('When it happened; now by default.', '2026-03-01T09:30:00.000Z')),
  uuid: Type.Optional(Type.String({ format: 'uuid', description: 'For deduplication of repeated requests.' })),
}
const api_key = Type.Optional(Text('The project token, `phc_…`.', token))
const Event = NamedObject('Event', 'Something that a person did.', event)
const CapturedEvent = NamedObject(
  'CapturedEvent',
  'One event with the project token.',
  { api_key, ...event },
  { api_key: token, event: 'checkout completed', distinct_id: 'user-1', properties: { amount: 42 } },
)
const EventBatch = NamedObject(
  'EventBatch',
  'Several events with the project token.',
  {
    api_key,
    batch: List(Event, 'Events in the order in which they happened.'),
    sent_at: Type.Optional(Text('Clock of the client, to correct timestamps.', '2026-03-01T09:30:00.000Z')),
  },
  { api_key: token, batch: [{ event: 'checkout completed', distinct_id: 'user-1' }] },
)
const Events = Type.Union([CapturedEvent, EventBatch], {
  title: 'Events',
  description: 'One event, or several.',
})
const EventsAnswer = NamedObject('EventsAccepted', 'The events are stored.', { status: Integer('Always 1.', 1) })
const OfrepRequest = NamedObject('OfrepRequest', 'The evaluation context of OpenFeature.', {
  context: FreeObject('`targetingKey` is the distinct id; other fields are person properties.', {
    targetingKey: 'user-1',
    plan: 'pro',
  }),
})
const OfrepFlag = NamedObject('OfrepFlag', 'The value of a flag for one context.', {
  key: Text('Key of the flag.', 'new-checkout'),
  value: Type.Optional(
    Type.Unknown({ description: 'Value of the flag; absent if the default applies.', examples: [true] }),
  ),
  reason: Type.Optional(Text('Reason as OpenFeature defines it.', 'STATIC')),
  variant: Type.Optional(Text('Key of the variant, `on` or `off`.', 'on')),
  metadata: Type.Optional(
    FreeObject('Details of the flag.', { flagId: 12, version: 1, reasonCode: 'condition_match' }),
  ),
  errorCode: Type.Optional(Text('Set if the flag could not be evaluated.')),
})

const OfrepProblem = NamedObject('OfrepError', 'An error in the shape of OFREP.', {
  key: Type.Optional(Text('Key of the flag.', 'new-checkout')),
  errorCode: Text('Code as OpenFeature defines it.', 'FLAG_NOT_FOUND'),
  errorDetails: Text('Message for people.', 'There is no flag with this key.'),
})
const OfrepFlags = NamedObject('OfrepFlags', 'Values of all flags for one context.', {
  flags: List(OfrepFlag, 'Values of all flags.'),
  eventStreams: Type.Optional(
    List(FreeObject(), 'Streams that announce changes.', [
      { type: 'sse', endpoint: { requestUri: `/ofrep/v1/stream?token=${token}` } },
    ]),
  ),
  metadata: ObjectOf('Metadata of all flags, as OpenFeature names it.', { flagSetId: Text('Id of the project.', '1') }),
})

const tokenQuery = Type.Optional(Text('Project token; selects the project of a personal API key.', token))
const definitionsQuery = Type.Object({
  token: tokenQuery,
  send_cohorts: Type.Optional(Bool('Whether to include the cohorts that flags use.')),
})
const secret: readonly Credential[] = ['projectSecretKey', 'personalApiKey']
const anyKey: readonly Credential[] = ['projectToken', 'projectSecretKey', 'personalApiKey']
const TokenParams = Type.Object({ token: Text('The project token.', token) })
const ProjectIdParam = Text('Project id, or `@current`.', '1')

const events = (path: `/${string}`, operationId: string, description: string) =>
  eventsRoute.post(path, {
    operationId,
    summary: 'Send events: one, a list, or `{api_key, batch}`; acknowledged when they are durable',
    description,
    credentials: [],
    body: ShapedObject(Events),
    responses: { 200: EventsAnswer },
  })
const definitions = (path: `/${string}`, operationId: string, description: string) =>
  definitionsRoute.get(path, {
    operationId,
    summary: 'Get the definitions for local evaluation; supports ETag and 304',
    description,
    credentials: secret,
    query: definitionsQuery,
    hasEtag: true,
    headers: ['X-Halyard-Project-Token'],
    responses: { 200: Definitions, 304: null },
  })

const encodings = 'Bodies can be compressed with gzip (`Content-Encoding: gzip` or `compression=gzip`).'

export const sdkRoutes = [
  evaluationRoute.post('/flags', {
    operationId: 'evaluateFlags',
    summary: 'Evaluate flags for a person',
    description: `Evaluated from memory; available during a database outage. The token in the body is the credential. ${encodings}`,
    credentials: [],
    query: Type.Object({
      v: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 2,
          description: '`2` (default) for details, `1` for values and payloads.',
          examples: [2],
        }),
      ),
      config: Type.Optional(Bool('`true` adds the configuration of posthog-js.')),
      compression: Type.Optional(
        Type.String({ enum: ['gzip', 'gzip-js', 'base64'], description: 'Encoding of the body.' }),
      ),
    }),
    body: EvaluationRequest,
    takesOverrides: true,
    responses: { 200: Type.Union([EvaluationAnswer, EvaluationValues]) },
  }),
  evaluationRoute.post('/decide', {
    operationId: 'decide',
    summary: 'Evaluate flags for older clients (`v` 1 to 4)',
    description: 'The path of older PostHog SDKs. Use `/flags/` in new code.',
    credentials: [],
    query: Type.Object({
      v: Type.Optional(Type.Integer({ minimum: 1, maximum: 4, description: 'Shape of the response.', examples: [3] })),
    }),
    body: EvaluationRequest,
    takesOverrides: true,
    responses: { 200: ShapedObject(DecideAnswer) },
  }),
  definitions(
    '/flags/definitions',
    'getFlagDefinitions',
    'Current SDKs poll this path. Send the `ETag` as `If-None-Match` to receive 304 when nothing has changed.',
  ),
  definitions(
    '/api/feature_flag/local_evaluation',
    'getLocalEvaluation',
    'The path of older SDKs for the same definitions.',
  ),
  definitionsRoute.get('/api/projects/:project_id/feature_flags/:key/remote_config', {
    operationId: 'getRemoteConfig',
    summary: 'Get the payload of a flag, by key or id',
    description: 'Returns the payload for `true` as JSON; the response has no body if there is none.',
    credentials: secret,
    params: Type.Object({
      project_id: ProjectIdParam,
      key: Text('Key or id of the flag.', 'new-checkout'),
    }),
    query: Type.Object({ token: tokenQuery }),
    mayBeEmpty: true,
    responses: { 200: Type.Unknown({ description: 'The payload.', examples: [{ size: 24 }] }) },
  }),
  definitionsRoute.get('/api/projects/:project_id/feature_flags/stream', {
    operationId: 'streamFlagDefinitions',
    summary: 'Stream the definitions and their changes as server-sent events; resumes from Last-Event-ID',
    description: 'The first event contains all definitions, each later one a change. The stream stays open.',
    credentials: secret,
    params: Type.Object({ project_id: ProjectIdParam }),
    headers: ['X-Halyard-Project-Token'],
    responses: { 200: EventStream() },
    mediaType: 'text/event-stream',
  }),
  evaluationRoute.get('/array/:token/config', {
    operationId: 'getBrowserConfig',
    summary: 'Get the configuration of posthog-js',
    description: 'Switches off everything that Halyard does not do, such as session recording.',
    params: TokenParams,
    responses: {
      200: Type.Record(Type.String(), Type.Unknown(), {
        [shapeKeyword]: NamedObject('BrowserConfig', 'Configuration of posthog-js.', {
          token: Text('The project token.', token),
          hasFeatureFlags: Bool('Whether SDKs evaluate flags.', true),
          supportedCompression: List(Type.String(), 'Encodings that the server accepts.', ['gzip', 'gzip-js']),
        }),
      }),
    },
  }),
  evaluationRoute.get('/array/:token/config.js', {
    operationId: 'getBrowserConfigScript',
    summary: 'Get the configuration of posthog-js as a script',
    description: 'Loaded by the browser SDK. Contains the same configuration.',
    params: TokenParams,
    responses: {
      200: Text('A script.', '(function(){window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{}})();'),
    },
    mediaType: 'application/javascript',
  }),
  evaluationRoute.get('/static/array.js', {
    operationId: 'getBrowserLibrary',
    summary: 'Get posthog-js as a script',
    description: "Loaded by PostHog's HTML snippet, or by a script tag. The script defines `window.posthog`.",
    responses: { 200: Text('A script.', '!function(){}();') },
    mediaType: 'text/javascript',
  }),
  events('/batch', 'captureEvents', `Current server SDKs send batches here. ${encodings}`),
  events('/e', 'captureEventShort', `The short path of browser SDKs. ${encodings}`),
  events('/i/v0/e', 'captureBrowserEvent', `Current browser SDKs send events here. ${encodings}`),
  events('/capture', 'captureEvent', `One event per request. ${encodings}`),
  events('/track', 'trackEvent', 'The path of old SDKs.'),
  events('/engage', 'engageEvent', 'The path of old SDKs for person properties.'),
  ofrepRoute.post('/ofrep/v1/evaluate/flags', {
    operationId: 'evaluateAllFlagsOfrep',
    summary: 'Evaluate all flags; supports ETag and 304, and returns the URL of the event stream',
    description:
      'For OpenFeature web clients. Send the `ETag` as `If-None-Match` to receive 304 when nothing has changed.',
    credentials: anyKey,
    body: OfrepRequest,
    takesOverrides: true,
    hasEtag: true,
    responses: { 200: OfrepFlags, 304: null },
    refusal: OfrepProblem,
  }),
  ofrepRoute.post('/ofrep/v1/evaluate/flags/:key', {
    operationId: 'evaluateFlagOfrep',
    summary: 'Evaluate one flag',
    description: 'For OpenFeature server clients.',
    credentials: anyKey,
    params: Type.Object({ key: Text('Key of the flag.', 'new-checkout') }),
    body: OfrepRequest,
    takesOverrides: true,
    responses: { 200: OfrepFlag },
    refusal: OfrepProblem,
  }),
  ofrepRoute.get('/ofrep/v1/stream', {
    operationId: 'streamOfrepChanges',
    summary: 'Stream `refetchEvaluation` after each change as server-sent events',
    description: 'OpenFeature web clients connect to it after an evaluation. The stream stays open.',
    credentials: anyKey,
    query: Type.Object({ token: Type.Optional(Text('The project token.', token)) }),
    responses: { 200: EventStream() },
    mediaType: 'text/event-stream',
  }),
]
