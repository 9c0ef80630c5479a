import Type, { type Static } from 'typebox'
import { asUser, route } from './route.ts'
import { bytesMaxKeyword, FreeObject, FreeObjectInput, InstantInput, mebibyte, Nullable } from './schema.ts'

/** The API that edges use on their upstream, a server or another edge; see `docs/operate/edge.md`. */

export const edgeProjectsMax = 5000
export const edgeBatchesMax = 1000
export const edgeBatchEventsMax = 1000

const uuidPattern = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
const ProjectUuid = Type.String({ pattern: uuidPattern, maxLength: 36, description: 'UUID of the project.' })
const Id = Type.String({ pattern: '^[\\w.:-]{1,100}$', maxLength: 100 })

export const EdgeEvent = Type.Object({
  uuid: Type.String({ pattern: uuidPattern, maxLength: 36 }),
  event: Type.String({ minLength: 1, maxLength: 200 }),
  distinct_id: Type.String({ minLength: 1, maxLength: 1000 }),
  // As much as a whole request: what an edge has accepted must not be refused here.
  properties: FreeObjectInput(20 * mebibyte),
  at: InstantInput('When it happened, by the clock of the first edge.'),
  ip: Nullable(Type.String({ maxLength: 100 })),
})
export const EdgeBatch = Type.Object({
  id: Id,
  project: Type.Optional(ProjectUuid),
  events: Type.Optional(Type.Array(EdgeEvent, { maxItems: edgeBatchEventsMax })),
  evaluations: Type.Optional(
    Type.Object({
      requests: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      flags: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    }),
  ),
})
export type EdgeBatch = Static<typeof EdgeBatch>
export type EdgeEvent = Static<typeof EdgeEvent>

const DistinctId = Type.String({ minLength: 1, maxLength: 1000 })

export const EdgeSubjectQuestion = Type.Object({
  project: ProjectUuid,
  distinct_id: DistinctId,
  anon_distinct_id: Type.Optional(DistinctId),
  person_properties: Type.Boolean(),
  groups: Type.Array(
    Type.Object({
      type_index: Type.Integer({ minimum: 0, maximum: 4 }),
      type: Type.String({ maxLength: 1000 }),
      key: Type.String({ maxLength: 1000 }),
    }),
    { maxItems: 5 },
  ),
  static_cohorts: Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: 100_000 }),
  continuity_flags: Type.Array(Type.String({ maxLength: 400 }), { maxItems: 100_000 }),
})
export type EdgeSubjectQuestion = Static<typeof EdgeSubjectQuestion>

export const EdgeSubject = Type.Object({
  person_properties: Nullable(FreeObject()),
  group_properties: FreeObject('Group type → properties.'),
  static_cohorts: Type.Array(Type.Integer()),
  hash_keys: Type.Record(Type.String(), Type.String(), { description: 'Flag key → hash key.' }),
})
export type EdgeSubject = Static<typeof EdgeSubject>

const tag = 'Edges'

export const edgeRoutes = {
  stream: route({
    method: 'POST',
    path: '/api/edge/stream',
    tag,
    summary: 'Stream the projects that the key can replicate, then their changes, as server-sent events',
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
    answers: { 200: Type.String() },
    mediaType: 'text/event-stream',
  }),
  batches: route({
    method: 'POST',
    path: '/api/edge/batches',
    tag,
    summary: 'Send events and counts that an edge received; idempotent by batch id',
    access: asUser('edge:write'),
    body: Type.Object({ batches: Type.Array(EdgeBatch, { maxItems: edgeBatchesMax }) }),
    answers: {
      200: Type.Object({
        received: Type.Integer(),
        refused: Type.Array(Type.String(), { description: 'Batches of projects that the key has no access to.' }),
      }),
    },
  }),
  subjects: route({
    method: 'POST',
    path: '/api/edge/subjects',
    tag,
    summary: 'Get the stored data of a person and groups that flag evaluation needs',
    access: asUser('edge:read'),
    body: EdgeSubjectQuestion,
    answers: { 200: EdgeSubject },
  }),
}
