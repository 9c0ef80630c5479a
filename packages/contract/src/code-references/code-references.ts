import Type, { type Static } from 'typebox'
import { FlagParams } from '../flags/flags.ts'
import { codeRepositoriesMax } from '../limits.ts'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import { IdParam, Instant, Integer, NamedObject, NonEmptyTextInput, Nullable, ProjectParams } from '../schema.ts'

export const codeReferencesMax = 10_000
export const codePathCharactersMax = 1000
export const codeExcerptCharactersMax = 200

const RepositoryName = { description: 'Name of the repository.', examples: ['acme/shop'] }
const Branch = { description: 'Branch that was scanned.', examples: ['main'] }
const Commit = {
  description: 'Commit that was scanned.',
  examples: ['3f2a9c1d5e7b8a6f4c0d2e1b9a8f7c6d5e4b3a21'],
}
const Path = { description: 'File, relative to the root of the repository.', examples: ['src/cart.ts'] }
const Line = { description: 'Number of the line, from 1.', examples: [42] }
const Excerpt = {
  description: 'The line, shortened; empty when none was sent.',
  examples: ["if (flags.isEnabled('new-checkout')) {"],
}

const CodeReference = NamedObject('CodeReference', 'A line of source code that names a flag.', {
  repository: Type.String(RepositoryName),
  branch: Nullable(Type.String(Branch)),
  commit: Nullable(Type.String(Commit)),
  path: Type.String(Path),
  line: Type.Integer(Line),
  excerpt: Type.String(Excerpt),
  scanned_at: Instant('When the repository was scanned.'),
})
export type CodeReference = Static<typeof CodeReference>

const CodeRepository = NamedObject('CodeRepository', 'A repository whose source code was scanned for flags.', {
  id: Integer('Id of the repository.', 3),
  name: Type.String(RepositoryName),
  branch: Nullable(Type.String(Branch)),
  commit: Nullable(Type.String(Commit)),
  scanned_at: Instant('When it was scanned.'),
  reference_count: Integer('Number of references to flags.', 12),
})
export type CodeRepository = Static<typeof CodeRepository>

const CodeReferenceWrite = NamedObject('CodeReferenceWrite', 'A line that names a flag.', {
  flag_key: NonEmptyTextInput(400, 'Key of the flag.', 'new-checkout'),
  path: Type.String({ minLength: 1, maxLength: codePathCharactersMax, ...Path }),
  line: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, ...Line }),
  excerpt: Type.Optional(Type.String({ maxLength: codeExcerptCharactersMax, ...Excerpt })),
})
const CodeReferencesWrite = NamedObject('CodeReferencesWrite', 'The result of scanning a repository.', {
  repository: Type.String({ minLength: 1, maxLength: 200, ...RepositoryName }),
  branch: Type.Optional(Nullable(Type.String({ maxLength: 200, ...Branch }))),
  commit: Type.Optional(Nullable(Type.String({ maxLength: 100, ...Commit }))),
  references: Type.Array(CodeReferenceWrite, {
    maxItems: codeReferencesMax,
    description: 'All references of the repository; they replace the stored ones.',
  }),
})
export type CodeReferencesWrite = Static<typeof CodeReferencesWrite>

const project = '/api/projects/:project_id' as const

const projectRoute = routesOf('Code references', { params: ProjectParams })
const route = routesOf('Code references')

export const codeReferenceRoutes = {
  replace: projectRoute.put(`${project}/code_references`, {
    operationId: 'replaceCodeReferences',
    summary: 'Replace the code references of a repository',
    description: `Replaces all of them at once, as \`halyard code-refs\` does after a scan. A project has at most ${codeRepositoriesMax} repositories.`,
    access: inProject('feature_flag:write'),
    body: CodeReferencesWrite,
    responses: { 200: CodeRepository },
  }),
  listRepositories: projectRoute.get(`${project}/code_repositories`, {
    operationId: 'listCodeRepositories',
    summary: 'List the repositories that were scanned for flags',
    description: 'Ordered by name.',
    access: inProject('feature_flag:read'),
    responses: { 200: Type.Array(CodeRepository) },
  }),
  removeRepository: route.delete(`${project}/code_repositories/:repository_id`, {
    operationId: 'deleteCodeRepository',
    summary: 'Delete a repository and its code references',
    description: 'Flags that only its code names can then be archived.',
    access: inProject('feature_flag:write'),
    params: Type.Object({ ...ProjectParams.properties, repository_id: IdParam('Id of the repository.') }),
    responses: { 204: null },
  }),
  listOfFlag: route.get(`${project}/feature_flags/:id/code_references`, {
    operationId: 'listFlagCodeReferences',
    summary: 'List the lines of code that name a flag',
    description: 'As of the last scan of each repository, by repository, file and line.',
    access: inProject('feature_flag:read'),
    params: FlagParams,
    query: Type.Object(pageQuery),
    responses: { 200: Page(CodeReference) },
  }),
}
