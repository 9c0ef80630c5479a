import Type, { type Static } from 'typebox'
import { flagKeyCharactersMax } from '../flags/flags.ts'
import { type Credential, inProject, open, route } from '../route.ts'
import { descriptionCharactersMax, FreeValueInput, Instant, mebibyte, Nullable, ProjectParams } from '../schema.ts'

/** The Manifest Management API, version 0, of the OpenFeature CLI. */

const key = { description: 'Key of the flag.', examples: ['search-rollout'] }
const description = { description: 'Description of the flag.', examples: ['The new search.'] }
const defaultValue = { description: 'Default for the code, of the type of the flag.', examples: [false] }

export const ManifestFlag = Type.Object(
  {
    key: Type.String(key),
    name: Type.String({ description: 'The key again: flags have no other name.', examples: ['search-rollout'] }),
    type: Type.String({
      description: '`boolean`, `string`, `integer` or `object`; `float` for numbers that are no integers.',
      examples: ['boolean'],
    }),
    description: Nullable(Type.String(description)),
    defaultValue: Type.Unknown(defaultValue),
  },
  { title: 'ManifestFlag', description: 'A flag as the OpenFeature CLI sees it.' },
)
export type ManifestFlag = Static<typeof ManifestFlag>

const Manifest = Type.Object(
  { flags: Type.Array(ManifestFlag, { description: 'Flags that are not archived, by key.' }) },
  { title: 'Manifest', description: 'The flags of a project, for code generators.' },
)
const ManifestFlagAnswer = Type.Object(
  { flag: ManifestFlag, updatedAt: Instant('When the flag was last changed.') },
  { title: 'ManifestFlagResult', description: 'The flag as it is stored.' },
)
const Archived = Type.Object(
  {
    message: Type.String({ description: 'What happened.', examples: ['Flag "search-rollout" archived.'] }),
    archivedAt: Instant('When the flag was archived.'),
  },
  { title: 'ManifestArchived', description: 'The flag is archived.' },
)
const ManifestProblem = Type.Object(
  {
    error: Type.Object(
      {
        message: Type.String({ description: 'What is wrong.', examples: ['Flag not found.'] }),
        status: Type.Integer({ description: 'Status of the response.', examples: [404] }),
        details: Type.Optional(
          Type.Array(
            Type.Object({
              field: Type.Optional(Type.String({ description: 'The field at fault.', examples: ['key'] })),
              code: Type.Optional(Type.String({ description: 'Code of the error.', examples: ['unique'] })),
              message: Type.Optional(Type.String({ description: 'What is wrong with it.', examples: ['Taken.'] })),
            }),
            { description: 'Fields at fault.' },
          ),
        ),
      },
      { description: 'The error.' },
    ),
  },
  { title: 'ManifestError', description: 'An error in the shape of the manifest API.' },
)

const tag = 'Typed flags'
const type = Type.Union(
  [Type.Literal('boolean'), Type.Literal('string'), Type.Literal('integer'), Type.Literal('object')],
  { description: 'Type of the value.', examples: ['boolean'] },
)
const written = {
  key: Type.String({ minLength: 1, maxLength: flagKeyCharactersMax, ...key }),
  type,
  name: Type.Optional(
    Type.String({ maxLength: descriptionCharactersMax, description: 'Used if there is no description.' }),
  ),
  description: Type.Optional(Nullable(Type.String({ maxLength: descriptionCharactersMax, ...description }))),
}
const value = FreeValueInput(mebibyte, defaultValue.description, false)
const KeyParam = Type.String({ description: 'Key of the flag.', examples: ['search-rollout'] })
const secretOrPersonal: readonly Credential[] = ['projectSecretKey', 'personalApiKey']
const common = { tag, errorShape: 'manifest', refusal: ManifestProblem } as const

const created = {
  method: 'POST',
  summary: 'Create a flag from a manifest',
  description:
    'The flag is disabled, so the default in the code applies until someone enables it. 409 if the key is taken, by an archived flag too.',
  body: Type.Object({ ...written, defaultValue: value }, { additionalProperties: false }),
  mayConflict: true,
  responses: { 201: ManifestFlagAnswer },
} as const
const updated = {
  method: 'PUT',
  summary: 'Change description and default value of a flag',
  description: 'The type of a flag cannot be changed: 409. An archived flag cannot be changed: 409.',
  body: Type.Object({ ...written, defaultValue: Type.Optional(value) }, { additionalProperties: false }),
  mayConflict: true,
  responses: { 200: ManifestFlagAnswer },
} as const
const removed = {
  method: 'DELETE',
  summary: 'Archive a flag',
  description: 'Refused with 409 while the flag is evaluated, other flags need it, or it is archived already.',
  mayConflict: true,
  responses: { 200: Archived },
} as const
const read = {
  method: 'GET',
  summary: 'Get the manifest of the project, for `openfeature pull`',
  description: 'The header `X-Manifest-Capabilities` lists what the key can do: `read`, `write`, `delete`.',
  credentials: secretOrPersonal,
  access: open,
  responses: { 200: Manifest },
} as const

const ownPath = '/openfeature/v0/manifest' as const
const projectPath = `/api/projects/:project_id${ownPath}` as const

/** Of the project that the key belongs to, or the current one of its user; and of a project by its id. */
export const manifestRoutes = {
  get: route({ ...common, ...read, path: ownPath, operationId: 'getManifest' }),
  getOf: route({ ...common, ...read, path: projectPath, operationId: 'getProjectManifest', params: ProjectParams }),
  create: route({
    ...common,
    ...created,
    path: `${ownPath}/flags`,
    operationId: 'createManifestFlag',
    access: inProject('feature_flag:write'),
  }),
  createIn: route({
    ...common,
    ...created,
    path: `${projectPath}/flags`,
    operationId: 'createProjectManifestFlag',
    access: inProject('feature_flag:write'),
    params: ProjectParams,
  }),
  update: route({
    ...common,
    ...updated,
    path: `${ownPath}/flags/:key`,
    operationId: 'updateManifestFlag',
    access: inProject('feature_flag:write'),
    params: Type.Object({ key: KeyParam }),
  }),
  updateIn: route({
    ...common,
    ...updated,
    path: `${projectPath}/flags/:key`,
    operationId: 'updateProjectManifestFlag',
    access: inProject('feature_flag:write'),
    params: Type.Object({ ...ProjectParams.properties, key: KeyParam }),
  }),
  remove: route({
    ...common,
    ...removed,
    path: `${ownPath}/flags/:key`,
    operationId: 'archiveManifestFlag',
    access: inProject('feature_flag:write'),
    params: Type.Object({ key: KeyParam }),
  }),
  removeFrom: route({
    ...common,
    ...removed,
    path: `${projectPath}/flags/:key`,
    operationId: 'archiveProjectManifestFlag',
    access: inProject('feature_flag:write'),
    params: Type.Object({ ...ProjectParams.properties, key: KeyParam }),
  }),
}
