import { importSources, importStatuses } from '@halyard/migrate/model'
import Type, { type Static } from 'typebox'
import { UserBasic } from '../organizations/users.ts'
import { Page, pageQuery } from '../page.ts'
import { inOrganization, inProject, routesOf } from '../route.ts'
import {
  Bool,
  FreeObject,
  FreeValueInput,
  IdParam,
  Instant,
  Integer,
  List,
  mebibyte,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  OneOf,
  OneOfInput,
  OrganizationParams,
  ProjectParams,
  Text,
  TextInput,
} from '../schema.ts'
import { environmentNameCharactersMax } from './environments.ts'

/** Maximum number of projects into which a file is imported at once. */
export const importTargetsMax = 10
/** Maximum number of flags and segments in one file, for all environments together. */
export const importItemsMax = 50_000

const ofSource = { description: 'The service that wrote the file.', examples: ['launchdarkly'] }
const Source = OneOf(importSources, ofSource)
export const ImportSourceInput = OneOfInput(importSources, ofSource)
const drifts = ['new', 'unchanged', 'changed_at_source', 'changed_here', 'changed_both', 'exists_here'] as const
const outcomes = ['created', 'updated', 'unchanged', 'skipped'] as const

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [12] })

const ImportTarget = NamedObject('ImportTarget', 'What a file means for one project.', {
  project: Nullable(Integer('Id of the project; null until the import has created it.', 1)),
  environment: Nullable(Text('Environment of the file; null when it has only one.', 'production')),
  name: Nullable(Text('Environment in the set, when the import is into one.', 'production')),
  new_group_types: List(Type.String(), 'Names of the group types that the import creates.', ['organization']),
  archived: count('Archived flags of the file, which are left out unless `include_archived` is true.'),
  exact: count('Items that have the same value for everyone.'),
  approximate: count('Items with differences that their reasons name.'),
  refused: count('Items that cannot be imported.'),
  created: count('Flags and cohorts that were created.'),
  updated: count('Flags and cohorts that were updated.'),
  unchanged: count('Flags and cohorts that were the same already.'),
  skipped: count('Items that were left as they are here.'),
})

export const ImportPlan = NamedObject('ImportPlan', 'What importing a file would do, and what it did.', {
  id: Integer('Unique id of the import.', 1),
  source: Source,
  targets: List(ImportTarget, 'One for each project.'),
  new_environment_set: Nullable(Text('Name of the environment set that the import creates.', 'Shop')),
  created_by: UserBasic,
  created_at: Instant('When the file was read.'),
  expires_at: Instant('When the plan is deleted. What was imported stays.'),
  applied_at: Nullable(Instant('When it was applied last.')),
})
export type ImportPlan = Static<typeof ImportPlan>

const Reason = Type.Object({
  message: Text(
    'What it is, and what to do about it.',
    'The operator "near" is not known; express the clause with another one.',
  ),
  path: Text('The place in the file.', 'flags.checkout.rules[0].clauses[0].op'),
})

export const ImportItem = NamedObject('ImportItem', 'A flag or segment of the file.', {
  position: Integer('Position in the plan.', 0),
  target: Integer('Index in `targets` of the import.', 0),
  project: Nullable(Integer('Id of the project; null until the import has created it.', 1)),
  kind: OneOf(['flag', 'segment'], { description: 'What it is in the file.' }),
  source_key: Text('The key in the file.', 'new-checkout'),
  status: OneOf(importStatuses, {
    description: '`exact`, `approximate` (imported, with the differences that `reasons` names) or `refused`.',
  }),
  reasons: List(Reason, 'Why it is not exact; of an exact item, what to know about it.'),
  drift: OneOf(drifts, {
    description:
      'Against what is stored here: `new`, `unchanged`, `changed_at_source`, `changed_here`, `changed_both` since the last import, or `exists_here` without one.',
  }),
  outcome: Nullable(OneOf(outcomes, { description: 'What applying did; null before.' })),
  flag: Nullable(Integer('Id of the imported flag.', 12)),
  cohort: Nullable(Integer('Id of the imported cohort.', 3)),
})
export type ImportItem = Static<typeof ImportItem>

const Mapping = Type.Object({
  environment: Type.Optional(Nullable(TextInput(200, 'Environment of the file.', 'production'))),
  project: Type.Optional(Integer('Id of the project to import it into.', 1)),
  name: Type.Optional(
    NonEmptyTextInput(
      environmentNameCharactersMax,
      'Instead of `project`: an environment of the set, or of the new set.',
      'production',
    ),
  ),
  content: Type.Optional(
    FreeValueInput(64 * mebibyte, 'A file of its own, for services that write one for each environment.', {
      flags: {},
    }),
  ),
})

const NewImport = Type.Object({
  source: ImportSourceInput,
  content: Type.Optional(
    FreeValueInput(64 * mebibyte, 'The file: its text, or the JSON in it. The limit is that of request bodies.', {
      flags: {},
      segments: {},
    }),
  ),
  mapping: Type.Optional(
    Type.Array(Mapping, {
      minItems: 1,
      maxItems: importTargetsMax,
      description: 'Which environment of the file goes into which project.',
    }),
  ),
  environment_set: Type.Optional(
    Integer('A set to import into. Without `mapping`, environments with the same names belong together.', 1),
  ),
  new_environment_set: Type.Optional(
    NonEmptyTextInput(
      200,
      'Name of a set that the import creates, with a project for each environment of the file or of `mapping` (admin).',
      'Shop',
    ),
  ),
  client_language: Type.Optional(
    Type.Union([Type.Literal('node'), Type.Literal('utf-8')], {
      description: 'How the SDKs in use hash text that is not ASCII: `node` (default) or `utf-8` for other languages.',
    }),
  ),
  flagd_version: Type.Optional(TextInput(40, 'Version of flagd, whose `fractional` has changed.', '0.11.4')),
  include_archived: Type.Optional(Bool('Import archived flags as well.')),
})

const FlagExport = NamedObject('FlagExport', 'The flags of a project for another service.', {
  document: FreeObject('The file.', { flags: {} }),
  items: List(
    Type.Object({
      key: Text('Key of the flag.', 'new-checkout'),
      status: OneOf(importStatuses, { description: '`exact`, `approximate` or `refused`.' }),
      reasons: List(Type.String(), 'Why it is not exact.', []),
    }),
    'One for each flag.',
  ),
})

const imports = '/api/organizations/:parent_lookup_organization_id/imports' as const
const ImportParams = Type.Object({ ...OrganizationParams.properties, import_id: IdParam('Id of the import.') })

const organizationRoute = routesOf('Imports', { params: OrganizationParams })
const importRoute = routesOf('Imports', { params: ImportParams })
const route = routesOf('Imports')

export const importRoutes = {
  list: organizationRoute.get(imports, {
    operationId: 'listImports',
    summary: 'List imports, newest first',
    description: 'Imports into projects that the caller cannot see are left out, as are expired ones.',
    access: inOrganization('feature_flag:read'),
    query: Type.Object(pageQuery),
    responses: { 200: Page(ImportPlan) },
  }),
  create: organizationRoute.post(imports, {
    operationId: 'planImport',
    summary: 'Read the file of another service and plan its import',
    description:
      'Changes no flag. Each flag and segment of the file is exact, approximate or refused, with reasons. A file that cannot be read returns 400 with the place in it. An organization has at most 20 plans; the oldest is deleted.',
    access: inOrganization('feature_flag:write'),
    body: NewImport,
    responses: { 201: ImportPlan },
  }),
  get: importRoute.get(`${imports}/:import_id`, {
    operationId: 'getImport',
    summary: 'Get an import',
    description: 'Returns the numbers for each project.',
    access: inOrganization('feature_flag:read'),
    responses: { 200: ImportPlan },
  }),
  items: importRoute.get(`${imports}/:import_id/items`, {
    operationId: 'listImportItems',
    summary: 'List the flags and segments of an import',
    description: 'In the order in which they are imported: what others depend on comes first, refused items last.',
    access: inOrganization('feature_flag:read'),
    query: Type.Object({
      ...pageQuery,
      status: Type.Optional(Text('Only `exact`, `approximate` or `refused` items.')),
      project: Type.Optional(Integer('Only items of this project.')),
      target: Type.Optional(Integer('Only items of the target with this index.')),
      search: Type.Optional(Text('Part of the key in the file.')),
    }),
    responses: { 200: Page(ImportItem) },
  }),
  apply: importRoute.post(`${imports}/:import_id/apply`, {
    operationId: 'applyImport',
    summary: 'Import into all projects, all or nothing',
    description:
      'Creates what is new and updates what has changed at the source; what was changed here stays unless `overwrite` is true. Refused items are left out. Returns 409 when something has changed since the plan, and when the project needs approval. With `Accept: application/x-ndjson` the steps are streamed.',
    access: inOrganization('feature_flag:write'),
    body: Type.Object({
      only: Type.Optional(
        Type.Union([Type.Literal('exact'), Type.Literal('all')], {
          description: '`exact`: without approximate items; `all` (default).',
        }),
      ),
      overwrite: Type.Optional(Bool('Replace what was changed or created here.')),
    }),
    bodyOptional: true,
    mayConflict: true,
    responses: { 200: ImportPlan },
  }),
  remove: importRoute.delete(`${imports}/:import_id`, {
    operationId: 'deleteImport',
    summary: 'Delete the plan of an import',
    description: 'What was imported stays.',
    access: inOrganization('feature_flag:write'),
    responses: { 204: null },
  }),
  export: route.get('/api/projects/:project_id/feature_flags/export', {
    operationId: 'exportFlags',
    isAudited: true,
    summary: 'Write the flags of a project in the format of another service',
    description:
      'Archived flags are left out. A flag that the format cannot express is refused with reasons and is not in the document.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      format: Type.Optional(Text('`flagd` (default), `openfeature-manifest` or `posthog`.', 'flagd')),
    }),
    responses: { 200: FlagExport },
  }),
}
