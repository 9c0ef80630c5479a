import Type from 'typebox'
import { open, route } from './route.ts'
import { FreeObject, Nullable } from './schema.ts'

/**
 * The paths that client libraries call. They are declared here for OpenAPI and have separate handlers, because their bodies use other
 * encodings (gzip, base64 forms) and their credentials are tokens, not personal keys.
 */

const evaluationTag = 'Evaluation (project token)'
const eventsTag = 'Events (project token)'
const ofrepTag = 'OFREP (project token or secret key)'
const definitionsTag = 'Definitions (personal or project secret key)'

const EvaluationRequest = Type.Object({
  token: Type.String({ description: 'The project token, `phc_…`.' }),
  distinct_id: Type.String(),
  groups: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Group type → group key.' })),
  person_properties: Type.Optional(FreeObject()),
  group_properties: Type.Optional(FreeObject('Group type → properties.')),
  flag_keys_to_evaluate: Type.Optional(Type.Array(Type.String())),
  $anon_distinct_id: Type.Optional(Type.String()),
  $device_id: Type.Optional(Type.String()),
  evaluation_contexts: Type.Optional(Type.Array(Type.String())),
  evaluation_runtime: Type.Optional(Type.String()),
})
const FlagDetail = Type.Object({
  key: Type.String(),
  enabled: Type.Boolean(),
  variant: Nullable(Type.String()),
  reason: Type.Object({
    code: Type.String(),
    condition_index: Nullable(Type.Integer()),
    description: Type.String(),
  }),
  metadata: Type.Object({
    id: Type.Integer(),
    version: Type.Integer(),
    description: Type.Null(),
    payload: Nullable(Type.String({ description: 'JSON text.' })),
    has_experiment: Type.Boolean(),
  }),
})
const evaluated = {
  errorsWhileComputingFlags: Type.Boolean(),
  requestId: Type.String(),
  evaluatedAt: Type.Integer({ description: 'Milliseconds.' }),
}
const EvaluationAnswer = Type.Object({ ...evaluated, flags: Type.Record(Type.String(), FlagDetail) })
const EvaluationValues = Type.Object(
  { ...evaluated, featureFlags: FreeObject('Flag key → variant, true or false.'), featureFlagPayloads: FreeObject() },
  { description: 'With `v=1`.' },
)
const Definitions = Type.Object({
  flags: Type.Array(FreeObject()),
  group_type_mapping: Type.Record(Type.String(), Type.String()),
  cohorts: FreeObject(),
  property_matching_version: Type.Integer(),
})
const EventsAnswer = Type.Object({ status: Type.Integer() })
const OfrepRequest = Type.Object({
  context: FreeObject('`targetingKey` is the distinct id; other fields are person properties.'),
})
const OfrepFlag = Type.Object({
  key: Type.String(),
  value: Type.Optional(Type.Unknown()),
  reason: Type.Optional(Type.String()),
  variant: Type.Optional(Type.String()),
  metadata: Type.Optional(FreeObject()),
  errorCode: Type.Optional(Type.String()),
})

const OfrepProblem = Type.Object({
  key: Type.Optional(Type.String()),
  errorCode: Type.String(),
  errorDetails: Type.String(),
})

const definitionsQuery = Type.Object({
  token: Type.Optional(Type.String()),
  send_cohorts: Type.Optional(Type.String({ description: 'If present, cohorts are included.' })),
})
const events = (path: `/${string}`) =>
  route({
    method: 'POST',
    path,
    tag: eventsTag,
    summary: 'Send events: one, a list, or `{api_key, batch}`; acknowledged when they are durable',
    access: open,
    body: FreeObject(),
    answers: { 200: EventsAnswer },
  })
const definitions = (path: `/${string}`) =>
  route({
    method: 'GET',
    path,
    tag: definitionsTag,
    summary: 'Get the definitions for local evaluation; supports ETag and 304',
    access: open,
    query: definitionsQuery,
    answers: { 200: Definitions, 304: null },
  })

export const sdkRoutes = [
  route({
    method: 'POST',
    path: '/flags',
    tag: evaluationTag,
    summary: 'Evaluate flags for a person',
    access: open,
    query: Type.Object({
      v: Type.Optional(Type.String({ description: '`2` (default) for details, `1` for values and payloads.' })),
      config: Type.Optional(Type.String({ description: '`true` adds the configuration of posthog-js.' })),
      compression: Type.Optional(Type.String({ description: '`gzip`, `gzip-js` or `base64`.' })),
    }),
    body: EvaluationRequest,
    answers: { 200: Type.Union([EvaluationAnswer, EvaluationValues]) },
  }),
  route({
    method: 'POST',
    path: '/decide',
    tag: evaluationTag,
    summary: 'Evaluate flags for older clients (`v` 1 to 4)',
    access: open,
    query: Type.Object({ v: Type.Optional(Type.String()) }),
    body: EvaluationRequest,
    answers: { 200: FreeObject() },
  }),
  definitions('/flags/definitions'),
  definitions('/api/feature_flag/local_evaluation'),
  route({
    method: 'GET',
    path: '/api/projects/:project_id/feature_flags/:key/remote_config',
    tag: definitionsTag,
    summary: 'Get the payload of a flag, by key or id',
    access: open,
    params: Type.Object({ project_id: Type.String(), key: Type.String() }),
    query: Type.Object({ token: Type.Optional(Type.String()) }),
    answers: { 200: Type.Unknown() },
  }),
  route({
    method: 'GET',
    path: '/api/projects/:project_id/feature_flags/stream',
    tag: definitionsTag,
    summary: 'Stream the definitions and their changes as server-sent events; resumes from Last-Event-ID',
    access: open,
    params: Type.Object({ project_id: Type.String() }),
    answers: { 200: Type.String() },
    mediaType: 'text/event-stream',
  }),
  route({
    method: 'GET',
    path: '/array/:token/config',
    tag: evaluationTag,
    summary: 'Get the configuration of posthog-js',
    access: open,
    params: Type.Object({ token: Type.String() }),
    answers: { 200: FreeObject() },
  }),
  route({
    method: 'GET',
    path: '/array/:token/config.js',
    tag: evaluationTag,
    summary: 'Get the configuration of posthog-js as a script',
    access: open,
    params: Type.Object({ token: Type.String() }),
    answers: { 200: Type.String() },
    mediaType: 'application/javascript',
  }),
  ...(['/batch', '/e', '/i/v0/e', '/capture', '/track', '/engage'] as const).map(events),
  route({
    method: 'POST',
    path: '/ofrep/v1/evaluate/flags',
    tag: ofrepTag,
    summary: 'Evaluate all flags; supports ETag and 304, and returns the URL of the event stream',
    access: open,
    body: OfrepRequest,
    answers: {
      200: Type.Object({ flags: Type.Array(OfrepFlag), eventStreams: Type.Optional(Type.Array(FreeObject())) }),
      304: null,
    },
    refusal: OfrepProblem,
  }),
  route({
    method: 'POST',
    path: '/ofrep/v1/evaluate/flags/:key',
    tag: ofrepTag,
    summary: 'Evaluate one flag',
    access: open,
    params: Type.Object({ key: Type.String() }),
    body: OfrepRequest,
    answers: { 200: OfrepFlag },
    refusal: OfrepProblem,
  }),
  route({
    method: 'GET',
    path: '/ofrep/v1/stream',
    tag: ofrepTag,
    summary: 'Stream `refetchEvaluation` after each change as server-sent events',
    access: open,
    query: Type.Object({ token: Type.Optional(Type.String()) }),
    answers: { 200: Type.String() },
    mediaType: 'text/event-stream',
  }),
]
