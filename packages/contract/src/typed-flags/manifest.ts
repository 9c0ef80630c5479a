import Type, { type Static } from 'typebox'
import { flagKeyCharactersMax } from '../flags/flags.ts'
import { type Credential, inProject, open, routesOf } from '../route.ts'
import {
  descriptionCharactersMax,
  FreeValueInput,
  Instant,
  Integer,
  List,
  mebibyte,
  NamedObject,
  Nullable,
  ObjectOf,
  ProjectParams,
  Text,
  TextInput,
} from '../schema.ts'

/** The Manifest Management API, version 0, of the OpenFeature CLI. */

const key = { description: 'Key of the flag.', examples: ['search-rollout'] }
const description = { description: 'Description of the flag.', examples: ['The new search.'] }
const defaultValue = { description: 'Default for the code, of the type of the flag.', examples: [false] }

export const ManifestFlag = NamedObject('ManifestFlag', 'A flag as the OpenFeature CLI sees it.', {
  key: Type.String(key),
  name: Text('The key again: flags have no other name.', 'search-rollout'),
  type: Text('`boolean`, `string`, `integer` or `object`; `float` for numbers that are no integers.', 'boolean'),
  description: Nullable(Type.String(description)),
  defaultValue: Type.Unknown(defaultValue),
})
export type ManifestFlag = Static<typeof ManifestFlag>

const Manifest = NamedObject('Manifest', 'The flags of a project, for code generators.', {
  flags: List(ManifestFlag, 'Flags that are not archived, by key.'),
})
const ManifestFlagAnswer = NamedObject('ManifestFlagResult', 'The flag as it is stored.', {
  flag: ManifestFlag,
  updatedAt: Instant('When the flag was last changed.'),
})
const Archived = NamedObject('ManifestArchived', 'The flag is archived.', {
  message: Text('What happened.', 'Flag "search-rollout" archived.'),
  archivedAt: Instant('When the flag was archived.'),
})
const ManifestProblem = NamedObject('ManifestError', 'An error in the shape of the manifest API.', {
  error: ObjectOf('The error.', {
    message: Text('What is wrong.', 'Flag not found.'),
    status: Integer('Status of the response.', 404),
    details: Type.Optional(
      List(
        Type.Object({
          field: Type.Optional(Text('The field at fault.', 'key')),
          code: Type.Optional(Text('Code of the error.', 'unique')),
          message: Type.Optional(Text('What is wrong with it.', 'Taken.')),
        }),
        'Fields at fault.',
      ),
    ),
  }),
})

const type = Type.Union(
  [Type.Literal('boolean'), Type.Literal('string'), Type.Literal('integer'), Type.Literal('object')],
  { description: 'Type of the value.', examples: ['boolean'] },
)
const written = {
  key: Type.String({ minLength: 1, maxLength: flagKeyCharactersMax, ...key }),
  type,
  name: Type.Optional(TextInput(descriptionCharactersMax, 'Used if there is no description.')),
  description: Type.Optional(Nullable(Type.String({ maxLength: descriptionCharactersMax, ...description }))),
}
const value = FreeValueInput(mebibyte, defaultValue.description, false)
const KeyParam = Text('Key of the flag.', 'search-rollout')
const secretOrPersonal: readonly Credential[] = ['projectSecretKey', 'personalApiKey']
const common = { errorShape: 'manifest', refusal: ManifestProblem } as const

const created = {
  summary: 'Create a flag from a manifest',
  description:
    'The flag is disabled, so the default in the code applies until someone enables it. 409 if the key is taken, by an archived flag too.',
  body: Type.Object({ ...written, defaultValue: value }, { additionalProperties: false }),
  access: inProject('feature_flag:write'),
  mayConflict: true,
  responses: { 201: ManifestFlagAnswer },
} as const
const updated = {
  summary: 'Change description and default value of a flag',
  description: 'The type of a flag cannot be changed: 409. An archived flag cannot be changed: 409.',
  body: Type.Object({ ...written, defaultValue: Type.Optional(value) }, { additionalProperties: false }),
  access: inProject('feature_flag:write'),
  mayConflict: true,
  responses: { 200: ManifestFlagAnswer },
} as const
const removed = {
  summary: 'Archive a flag',
  description: 'Refused with 409 while the flag is evaluated, other flags need it, or it is archived already.',
  access: inProject('feature_flag:write'),
  mayConflict: true,
  responses: { 200: Archived },
} as const
const read = {
  summary: 'Get the manifest of the project, for `openfeature pull`',
  description: 'The header `X-Manifest-Capabilities` lists what the key can do: `read`, `write`, `delete`.',
  credentials: secretOrPersonal,
  access: open,
  responses: { 200: Manifest },
} as const

const ownPath = '/openfeature/v0/manifest' as const
const projectPath = `/api/projects/:project_id${ownPath}` as const

const ownRoute = routesOf('Typed flags', common)
const projectRoute = routesOf('Typed flags', { ...common, params: ProjectParams })
const ownFlagRoute = routesOf('Typed flags', { ...common, params: Type.Object({ key: KeyParam }) })
const projectFlagRoute = routesOf('Typed flags', {
  ...common,
  params: Type.Object({ ...ProjectParams.properties, key: KeyParam }),
})

/** Of the project that the key belongs to, or the current one of its user; and of a project by its id. */
export const manifestRoutes = {
  get: ownRoute.get(ownPath, { ...read, operationId: 'getManifest' }),
  getOf: projectRoute.get(projectPath, { ...read, operationId: 'getProjectManifest' }),
  create: ownRoute.post(`${ownPath}/flags`, { ...created, operationId: 'createManifestFlag' }),
  createIn: projectRoute.post(`${projectPath}/flags`, { ...created, operationId: 'createProjectManifestFlag' }),
  update: ownFlagRoute.put(`${ownPath}/flags/:key`, { ...updated, operationId: 'updateManifestFlag' }),
  updateIn: projectFlagRoute.put(`${projectPath}/flags/:key`, { ...updated, operationId: 'updateProjectManifestFlag' }),
  remove: ownFlagRoute.delete(`${ownPath}/flags/:key`, { ...removed, operationId: 'archiveManifestFlag' }),
  removeFrom: projectFlagRoute.delete(`${projectPath}/flags/:key`, {
    ...removed,
    operationId: 'archiveProjectManifestFlag',
  }),
}
