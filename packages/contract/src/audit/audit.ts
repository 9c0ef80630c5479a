import Type, { type Static } from 'typebox'
import { ActivityChange } from '../flags/activity.ts'
import { forAuditors, inOrganization, routesOf } from '../route.ts'
import { FreeObject, Instant, Nullable, OneOf, OrganizationParams } from '../schema.ts'

const hash = (description: string) => Type.String({ description, examples: ['9f86d081…'] })
const sequence = (description: string) => Type.Integer({ description, examples: [42] })

const Link = (description: string) =>
  Type.Object({ sequence: sequence('Sequence of the entry.'), hash: hash('Hash of the entry.') }, { description })

const AuditedObject = Type.Object(
  {
    type: Type.String({ description: 'Type of the object.', examples: ['FeatureFlag'] }),
    id: Type.String({ description: 'Id of the object.', examples: ['12'] }),
    name: Type.String({ description: 'Name or key of the object at that time.', examples: ['new-checkout'] }),
    project: Nullable(Type.Integer({ description: 'Project of the object.', examples: [1] })),
    activity: Type.String({ description: 'What happened to it.', examples: ['updated'] }),
    changes: Type.Optional(
      Type.Array(Type.Omit(ActivityChange, ['type']), { description: 'Fields, old and new. Secrets are left out.' }),
    ),
    changes_sha256: Type.Optional(
      hash('Instead of `changes`, when the entry would be larger than 500,000 characters.'),
    ),
    trigger: Nullable(FreeObject('Why: an approved request, a schedule, a rollback, a reason.', null)),
    on_behalf_of: Type.Optional(Type.String({ description: 'Email of the user on whose behalf it was done.' })),
  },
  { title: 'AuditedObject', description: 'What happened to one object.' },
)

export const AuditEntry = Type.Object(
  {
    sequence: sequence('Place in the log of the organization, from 1 without gaps.'),
    at: Instant('When it happened.'),
    organization: Type.String({ description: 'Id of the organization.' }),
    actor: Nullable(
      Type.Object(
        {
          id: Type.Integer({ description: 'Id of the user.', examples: [1] }),
          email: Type.String({ description: 'Email address at that time.', examples: ['ada@example.com'] }),
          name: Type.String({ description: 'First name at that time.', examples: ['Ada'] }),
        },
        { description: 'Who; null for the system.' },
      ),
    ),
    credential: Nullable(
      Type.Object(
        {
          kind: Type.String({ description: '`session`, `personal_api_key`, …', examples: ['personal_api_key'] }),
          id: Nullable(Type.String({ description: 'Id of the key.', examples: ['k1'] })),
          label: Nullable(Type.String({ description: 'Label of the key.', examples: ['CI'] })),
        },
        { description: 'By which credential.' },
      ),
    ),
    address: Nullable(Type.String({ description: 'Address of the client.', examples: ['203.0.113.7'] })),
    operation: Type.String({
      description: '`operationId` of the route, or the name of the job.',
      examples: ['updateFeatureFlag'],
    }),
    path: FreeObject('What the path names.', { project_id: '1', id: '12' }),
    objects: Type.Array(AuditedObject, { description: 'What changed, old and new.' }),
    note: Nullable(Type.String({ description: 'Why, from `X-Halyard-Note`.', examples: ['Launch'] })),
    request_id: Nullable(Type.String({ description: '`X-Request-Id` of the response.' })),
    pruned: Type.Optional(
      Type.Object(
        {
          sequence: sequence('Sequence of the entry.'),
          hash: hash('Hash of the entry.'),
          key: Type.Optional(Type.String({ description: 'Public key (Ed25519) that signed, in base64url.' })),
          signature: Type.Optional(
            Type.String({ description: 'Signature of the place of this entry and of the last one removed.' }),
          ),
        },
        { description: 'The last entry that the retention removed, as a signed checkpoint.' },
      ),
    ),
    restored: Type.Optional(Link('The head of the backup that was restored: a new segment begins here.')),
    previous_hash: hash('Hash of the entry before; 64 zeros for the first.'),
    hash: hash('SHA-256 of the canonical JSON (RFC 8785) of the entry without this field.'),
    is_unreadable: Type.Optional(
      Type.Literal(true, {
        description:
          'The entry was changed in the database and cannot be read: only `sequence` and `hash` are its own, and `operation` is `unreadable`. `halyard audit verify` reports it.',
      }),
    ),
  },
  { title: 'AuditEntry', description: 'An entry of the audit log.' },
)
export type AuditEntry = Static<typeof AuditEntry>

const route = routesOf('Audit log')
const log = '/api/organizations/:parent_lookup_organization_id/audit_log' as const
const access = forAuditors(inOrganization('audit_log:read'))

export const auditRoutes = {
  list: route({
    method: 'GET',
    path: log,
    operationId: 'listAuditLog',
    isAudited: true,
    summary: 'List the audit log of the organization, newest first',
    description:
      'For admins, owners and auditors. Reading it leaves an entry too. Follow `next` for older entries. A search that takes longer than five seconds is refused: narrow it by time.',
    access,
    params: OrganizationParams,
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ description: 'Entries per page (default 100, at most 1000).' })),
      before: Type.Optional(Type.Integer({ description: 'Only entries with a smaller sequence.' })),
      user: Type.Optional(Type.String({ description: 'Only entries by this user: id, UUID or email.' })),
      object: Type.Optional(Type.String({ description: 'Only entries about this object, such as `FeatureFlag/12`.' })),
      operation: Type.Optional(Type.String({ description: 'Only this operation, such as `updateFeatureFlag`.' })),
      date_from: Type.Optional(Type.String({ format: 'date-time', description: 'Only entries at or after this.' })),
      date_to: Type.Optional(Type.String({ format: 'date-time', description: 'Only entries before this.' })),
      search: Type.Optional(Type.String({ description: 'Only entries that contain this text, in any case.' })),
    }),
    responses: {
      200: Type.Object(
        {
          next: Nullable(Type.String({ description: 'URL of the next page.', examples: [null] })),
          results: Type.Array(AuditEntry, { description: 'Entries of this page.' }),
        },
        { title: 'AuditLogPage', description: 'A page of the audit log.' },
      ),
    },
  }),
  head: route({
    method: 'GET',
    path: `${log}/head`,
    operationId: 'getAuditLogHead',
    summary: 'Get the newest entry of the audit log, to compare exports with it later',
    description: 'Write it down outside of Halyard: with it, a log that was cut off or replaced is found.',
    access,
    params: OrganizationParams,
    responses: {
      200: Type.Object(
        {
          sequence: sequence('Sequence of the newest entry; 0 when there is none.'),
          hash: hash('Its hash.'),
          pruned: Link('The last entry that the retention removed; sequence 0 when none was.'),
          checkpoint_key: hash('SHA-256 of the public key that signs checkpoints, for `halyard audit verify --key`.'),
        },
        { title: 'AuditLogHead', description: 'The end of the audit log.' },
      ),
    },
  }),
  export: route({
    method: 'GET',
    path: `${log}/export`,
    operationId: 'exportAuditLog',
    isAudited: true,
    summary: 'Export the audit log with its chain of hashes',
    description:
      'Streams JSON Lines: entries from the oldest, and the head as the last line. `halyard audit verify` checks the file. With `format=cef`, events in the Common Event Format.',
    access,
    params: OrganizationParams,
    query: Type.Object({
      format: Type.Optional(OneOf(['jsonl', 'cef'], { description: 'Default `jsonl`.' })),
      after: Type.Optional(Type.Integer({ description: 'Only entries after this sequence.' })),
    }),
    mediaType: 'application/x-ndjson',
    responses: { 200: Type.String({ description: 'A line for each entry.' }) },
  }),
}
