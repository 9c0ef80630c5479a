import Type, { type Static } from 'typebox'
import { FlagParams } from '../flags/flags.ts'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  FreeObject,
  FreeObjectInput,
  Instant,
  Integer,
  kibibyte,
  NamedObject,
  Nullable,
  ProjectParams,
  Text,
} from '../schema.ts'

export const payloadSchemaBytesMax = 64 * kibibyte

const example = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] }

export const PayloadSchemaInput = (description: string) => FreeObjectInput(payloadSchemaBytesMax, description, example)

export const PayloadSchema = NamedObject('PayloadSchema', 'What the payloads of a flag must look like.', {
  flag_id: Integer('Id of the flag.', 12),
  flag_key: Text('Key of the flag.', 'new-checkout'),
  schema: Nullable(FreeObject('The JSON Schema of all payloads of the flag; null when there is none.', example)),
  updated_at: Nullable(Instant('When the schema was last changed; null when there is none.')),
})
export type PayloadSchema = Static<typeof PayloadSchema>

const route = routesOf('Typed flags')
const project = '/api/projects/:project_id' as const
const path = `${project}/feature_flags/:id/payload_schema` as const
const flagRoute = routesOf('Typed flags', { params: FlagParams })

export const payloadSchemaRoutes = {
  list: route.get(`${project}/payload_schemas`, {
    operationId: 'listPayloadSchemas',
    summary: 'List the payload schemas of all flags',
    description: 'Flags without a schema are not listed. Ordered by flag id.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object(pageQuery),
    responses: { 200: Page(PayloadSchema) },
  }),
  get: flagRoute.get(path, {
    operationId: 'getPayloadSchema',
    summary: 'Get the payload schema of a flag',
    description: 'The schema is null when there is none.',
    access: inProject('feature_flag:read'),
    responses: { 200: PayloadSchema },
  }),
  put: flagRoute.put(path, {
    operationId: 'setPayloadSchema',
    summary: 'Set the payload schema of a flag',
    description:
      'From then on, a flag whose payloads do not match cannot be saved. Refused while a payload of the flag does not match. Supports a subset of JSON Schema; an unknown keyword is refused.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      schema: PayloadSchemaInput('A JSON Schema, at most 64 KiB.'),
    }),
    responses: { 200: PayloadSchema },
  }),
  remove: flagRoute.delete(path, {
    operationId: 'deletePayloadSchema',
    summary: 'Remove the payload schema of a flag',
    description: 'Payloads can be any JSON again.',
    access: inProject('feature_flag:write'),
    responses: { 204: null },
  }),
}
