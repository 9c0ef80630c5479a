import Type, { type Static } from 'typebox'
import { asUser, routesOf } from '../route.ts'
import {
  Bool,
  bytesMaxKeyword,
  EventStream,
  FreeObject,
  FreeObjectInput,
  InstantInput,
  Integer,
  List,
  mebibyte,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  ObjectOf,
  TextInput,
} from '../schema.ts'

/** The API that edges use on their upstream, a server or another edge; see `docs/operate/edge.md`. */

export const edgeBatchesMax = 1000
export const edgeBatchEventsMax = 1000

const uuidPattern = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
const ProjectUuid = Type.String({
  pattern: uuidPattern,
  maxLength: 36,
  description: 'UUID of the project.',
  examples: ['0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d'],
})
const Id = Type.String({
  pattern: '^[\\w.:-]{1,100}$',
  maxLength: 100,
  description: 'Id of the batch, which is processed once.',
  examples: ['edge-1:4711'],
})

export const EdgeEvent = NamedObject('EdgeEvent', 'An event that an edge has accepted.', {
  uuid: Type.String({
    pattern: uuidPattern,
    maxLength: 36,
    description: 'UUID of the event, for deduplication.',
    examples: ['0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d'],
  }),
  event: NonEmptyTextInput(200, 'Name of the event.', 'checkout completed'),
  distinct_id: NonEmptyTextInput(1000, 'Distinct id of the person.', 'user-1'),
  // As much as a whole request: what an edge has accepted must not be refused here.
  properties: FreeObjectInput(20 * mebibyte, 'Properties of the event.', { amount: 42 }),
  at: InstantInput('When it happened, by the clock of the first edge.'),
  ip: Nullable(TextInput(100, 'Address of the client.', null)),
})
export const EdgeBatch = NamedObject('EdgeBatch', 'Events and counts of one project.', {
  id: Id,
  project: Type.Optional(ProjectUuid),
  events: Type.Optional(
    Type.Array(EdgeEvent, {
      maxItems: edgeBatchEventsMax,
      description: 'Events in the order in which the edge received them.',
    }),
  ),
  evaluations: Type.Optional(
    ObjectOf('Number of evaluations since the last batch.', {
      requests: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Evaluation requests.',
        examples: [120],
      }),
      flags: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Evaluated flags.',
        examples: [840],
      }),
    }),
  ),
})
export type EdgeBatch = Static<typeof EdgeBatch>
export type EdgeEvent = Static<typeof EdgeEvent>

const DistinctId = NonEmptyTextInput(1000, 'Distinct id of the person.', 'user-1')

export const EdgeSubjectQuestion = NamedObject(
  'EdgeSubjectQuery',
  'The person and groups that an edge needs stored data of.',
  {
    project: ProjectUuid,
    distinct_id: DistinctId,
    anon_distinct_id: Type.Optional(DistinctId),
    person_properties: Bool('Whether the properties of the person are needed.', true),
    groups: Type.Array(
      Type.Object({
        type_index: Type.Integer({ minimum: 0, maximum: 4, description: 'Index of the group type.', examples: [0] }),
        type: TextInput(1000, 'Name of the group type.', 'company'),
        key: TextInput(1000, 'Key of the group.', 'acme'),
      }),
      { maxItems: 5, description: 'Groups whose properties are needed.', examples: [[]] },
    ),
    static_cohorts: Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), {
      maxItems: 100_000,
      description: 'Ids of the static cohorts to check.',
      examples: [[7]],
    }),
    continuity_flags: Type.Array(Type.String({ maxLength: 400 }), {
      maxItems: 100_000,
      description: 'Keys of flags with experience continuity.',
      examples: [[]],
    }),
    events: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), {
        maxItems: 1000,
        description: 'Names of the events whose histories are needed.',
        examples: [['paid']],
      }),
    ),
    event_days: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 366, description: 'Days of the longest window.', examples: [30] }),
    ),
  },
)
export type EdgeSubjectQuestion = Static<typeof EdgeSubjectQuestion>

export const EdgeSubject = NamedObject('EdgeSubject', 'Stored data of a person and groups.', {
  person_properties: Nullable(FreeObject('Properties of the person; null without a person.', { plan: 'pro' })),
  group_properties: FreeObject('Group type → properties.', {}),
  static_cohorts: List(Type.Integer(), 'Static cohorts that contain the person.', [7]),
  hash_keys: Type.Record(Type.String(), Type.String(), { description: 'Flag key → hash key.', examples: [{}] }),
  events: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        first_day: Integer('First day in UTC, counted from 1970-01-01.', 20_000),
        days: List(Type.Array(Type.Integer()), 'Pairs of a day and the number of events on it.', [[20_000, 3]]),
      }),
      { description: 'Event name → how often the person performed it.', examples: [{}] },
    ),
  ),
})
export type EdgeSubject = Static<typeof EdgeSubject>

const route = routesOf('Edges')

export const edgeRoutes = {
  stream: route.post('/api/edge/stream', {
    operationId: 'streamEdgeState',
    isAudited: false,
    summary: 'Stream the projects that the key can replicate, then their changes, as server-sent events',
    description:
      'Sends the complete state of each project whose digest the edge does not have, then every change. Used by `halyard edge`.',
    access: asUser('edge:read'),
    body: Type.Object({
      have: Type.Optional(
        Type.Record(Type.String(), Type.String({ maxLength: 200 }), {
          [bytesMaxKeyword]: 2 * mebibyte,
          description: 'Project UUID → digest of the state that the edge already has and that is not sent again.',
        }),
      ),
    }),
    bodyOptional: true,
    responses: { 200: EventStream() },
    mediaType: 'text/event-stream',
  }),
  batches: route.post('/api/edge/batches', {
    operationId: 'sendEdgeBatches',
    isAudited: false,
    summary: 'Send events and counts that an edge received; idempotent by batch id',
    description: 'Every batch is processed once, so an edge can repeat a request that it got no response to.',
    access: asUser('edge:write'),
    body: Type.Object({
      batches: Type.Array(EdgeBatch, { maxItems: edgeBatchesMax, description: 'Batches of one or more projects.' }),
    }),
    responses: {
      200: Type.Object({
        received: Integer('Number of batches that were processed.', 1),
        refused: List(Type.String(), 'Batches of projects that the key has no access to.', []),
      }),
    },
  }),
  subjects: route.post('/api/edge/subjects', {
    operationId: 'getEdgeSubject',
    isAudited: false,
    summary: 'Get the stored data of a person and groups that flag evaluation needs',
    description: 'Used by edges for flags that depend on stored properties, static cohorts or experience continuity.',
    access: asUser('edge:read'),
    body: EdgeSubjectQuestion,
    responses: { 200: EdgeSubject },
  }),
}
