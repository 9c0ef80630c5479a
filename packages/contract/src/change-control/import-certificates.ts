import { importStatuses } from '@halyard/migrate/model'
import Type, { type Static } from 'typebox'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  FreeObjectInput,
  FreeValueInput,
  IdParam,
  Instant,
  Integer,
  kibibyte,
  NamedObject,
  Nullable,
  ObjectOf,
  OneOfInput,
  ProjectParams,
  TextInput,
} from '../schema.ts'
import { ImportSourceInput } from './imports.ts'

/** Flags that a certificate lists; those that are not all equal come first. */
export const certificateFlagsMax = 10_000
/** Differences that a certificate lists, of exact flags before others. */
export const certificateDifferencesMax = 50
/** Certificates of one project; the oldest makes way. */
export const certificatesMax = 50

const count = (description: string) => Type.Integer({ minimum: 0, maximum: 1e12, description, examples: [200_000] })
const text = (maxLength: number, description: string, example: string) => TextInput(maxLength, description, example)
const status = OneOfInput(importStatuses, {
  description: '`exact`, `approximate` or `refused`.',
  examples: ['exact'],
})

const CertificateFlag = NamedObject('CertificateFlag', 'How often both sides agreed on one flag.', {
  key: text(1000, 'Key of the flag at the source.', 'new-checkout'),
  status,
  reasons: Type.Array(text(2000, 'A sentence.', 'The operator "near" is not known; use another one.'), {
    maxItems: 100,
    description: 'Why it is not exact.',
    examples: [[]],
  }),
  pairs: count('Comparisons of this flag.'),
  equal: count('Comparisons with the same value.'),
  not_compared: Type.Optional(
    text(1000, 'Why the flag was not compared, when it was not.', 'It is archived, and off here.'),
  ),
})

const CertificateDifference = NamedObject(
  'CertificateDifference',
  'A person who gets different values from both sides.',
  {
    flag: text(1000, 'Key of the flag at the source.', 'new-checkout'),
    status,
    context: ObjectOf('Who gets different values.', {
      id: text(1000, 'Distinct id of the generated person.', 'user-4711'),
      attributes: FreeObjectInput(64 * kibibyte, 'Properties of the person.', { plan: 'pro' }),
      groups: Type.Optional(
        FreeObjectInput(64 * kibibyte, 'Key and properties of the group of each type.', {
          organization: { key: 'acme', attributes: { plan: 'free' } },
        }),
      ),
    }),
    there: FreeValueInput(64 * kibibyte, 'Value that the SDK of the service returned.', 'a'),
    here: FreeValueInput(64 * kibibyte, 'Value that Halyard returned.', 'b'),
    there_trace: FreeValueInput(64 * kibibyte, 'How the SDK explains its value.', { kind: 'FALLTHROUGH' }),
    here_trace: FreeValueInput(64 * kibibyte, 'How Halyard explains its value.', { conditions: [] }),
  },
)

const numbers = {
  source: ImportSourceInput,
  environment: Nullable(text(200, 'Environment of the file.', 'production')),
  file_sha256: Type.String({
    minLength: 64,
    maxLength: 64,
    description: 'SHA-256 of the file, in hexadecimal.',
    examples: ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  }),
  sdk: text(200, 'Package of the SDK.', '@launchdarkly/node-server-sdk'),
  sdk_version: text(100, 'Version of the SDK.', '9.13.7'),
  halyard_version: text(100, 'Version of Halyard, whose engine evaluated.', '0.1.0'),
  node_version: text(100, 'Version of Node.js.', '24.1.0'),
  seed: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, description: 'Repeats the same people.', examples: [7] }),
  contexts: count('Generated people.'),
  pairs: count('Comparisons: a person and a flag with a value from both sides.'),
  equal: count('Comparisons with the same value.'),
  differing: count('Comparisons of exact flags with different values.'),
  declared: count('Comparisons of approximate flags with different values.'),
  sdk_errors: count('Pairs for which the SDK returned an error instead of a value.'),
  exact: count('Flags that are exact.'),
  approximate: count('Flags that are approximate.'),
  refused: count('Flags that were refused.'),
}

export const ImportCertificate = NamedObject(
  'ImportCertificate',
  "What a comparison with the service's own SDK has shown.",
  {
    ...numbers,
    flags: Type.Array(CertificateFlag, { maxItems: certificateFlagsMax, description: 'The flags of the file.' }),
    differences: Type.Array(CertificateDifference, {
      maxItems: certificateDifferencesMax,
      description: 'Some of the differences.',
    }),
  },
)
export type ImportCertificate = Static<typeof ImportCertificate>

const stored = {
  id: Integer('Unique id of the certificate.', 1),
  import: Nullable(Integer('Id of the import that it belongs to.', 1)),
  created_at: Instant('When it was stored.'),
}

export const CertificateSummary = NamedObject('CertificateSummary', 'The numbers of a certificate.', {
  ...stored,
  ...numbers,
})
export type CertificateSummary = Static<typeof CertificateSummary>

export const StoredCertificate = NamedObject('StoredCertificate', 'A certificate with its flags and differences.', {
  ...stored,
  certificate: ImportCertificate,
})
export type StoredCertificate = Static<typeof StoredCertificate>

const certificates = '/api/projects/:project_id/import_certificates' as const
const CertificateParams = Type.Object({
  ...ProjectParams.properties,
  certificate_id: IdParam('Id of the certificate.'),
})

const projectRoute = routesOf('Imports', { params: ProjectParams })
const certificateRoute = routesOf('Imports', { params: CertificateParams })

export const importCertificateRoutes = {
  list: projectRoute.get(certificates, {
    operationId: 'listImportCertificates',
    summary: 'List the certificates of imports, newest first',
    description: 'Without flags and differences.',
    access: inProject('feature_flag:read'),
    query: Type.Object(pageQuery),
    responses: { 200: Page(CertificateSummary) },
  }),
  create: projectRoute.post(certificates, {
    operationId: 'storeImportCertificate',
    summary: 'Store the certificate of an import',
    description:
      '`halyard import-from … --prove` makes the certificate and stores it here. With `import`, its flags must have the results of that import. A project has at most 50; the oldest is deleted.',
    access: inProject('feature_flag:write'),
    body: Type.Object({
      import: Type.Optional(Nullable(Integer('Id of an import into this project.', 1))),
      certificate: ImportCertificate,
    }),
    responses: { 201: StoredCertificate },
  }),
  get: certificateRoute.get(`${certificates}/:certificate_id`, {
    operationId: 'getImportCertificate',
    summary: 'Get the certificate of an import',
    description: 'With the flags, and with differences and how both sides explain them.',
    access: inProject('feature_flag:read'),
    responses: { 200: StoredCertificate },
  }),
  remove: certificateRoute.delete(`${certificates}/:certificate_id`, {
    operationId: 'deleteImportCertificate',
    summary: 'Delete the certificate of an import',
    description: 'What was imported stays.',
    access: inProject('feature_flag:write'),
    responses: { 204: null },
  }),
}
