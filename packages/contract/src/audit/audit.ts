import Type, { type Static } from 'typebox'
import { ActivityChange } from '../flags/activity.ts'
import { forAuditors, inOrganization, routesOf } from '../route.ts'
import {
  FreeObject,
  Instant,
  Integer,
  List,
  NamedObject,
  Nullable,
  ObjectOf,
  OneOf,
  OrganizationParams,
  Text,
} from '../schema.ts'

const hash = (description: string) => Text(description, '9f86d081…')
const sequence = (description: string) => Integer(description, 42)

const Link = (description: string) =>
  ObjectOf(description, { sequence: sequence('Sequence of the entry.'), hash: hash('Hash of the entry.') })

const AuditedObject = NamedObject('AuditedObject', 'What happened to one object.', {
  type: Text('Type of the object.', 'FeatureFlag'),
  id: Text('Id of the object.', '12'),
  name: Text('Name or key of the object at that time.', 'new-checkout'),
  project: Nullable(Integer('Project of the object.', 1)),
  activity: Text('What happened to it.', 'updated'),
  changes: Type.Optional(List(Type.Omit(ActivityChange, ['type']), 'Fields, old and new. Secrets are left out.')),
  changes_sha256: Type.Optional(hash('Instead of `changes`, when the entry would be larger than 500,000 characters.')),
  trigger: Nullable(FreeObject('Why: an approved request, a schedule, a rollback, a reason.', null)),
  on_behalf_of: Type.Optional(Text('Email of the user on whose behalf it was done.')),
})

export const AuditEntry = NamedObject('AuditEntry', 'An entry of the audit log.', {
  sequence: sequence('Place in the log of the organization, from 1 without gaps.'),
  at: Instant('When it happened.'),
  organization: Text('Id of the organization.'),
  actor: Nullable(
    ObjectOf('Who; null for the system.', {
      id: Integer('Id of the user.', 1),
      email: Text('Email address at that time.', 'ada@example.com'),
      name: Text('First name at that time.', 'Ada'),
    }),
  ),
  credential: Nullable(
    ObjectOf('By which credential.', {
      kind: Text('`session`, `personal_api_key`, …', 'personal_api_key'),
      id: Nullable(Text('Id of the key.', 'k1')),
      label: Nullable(Text('Label of the key.', 'CI')),
    }),
  ),
  address: Nullable(Text('Address of the client.', '203.0.113.7')),
  operation: Text('`operationId` of the route, or the name of the job.', 'updateFeatureFlag'),
  path: FreeObject('What the path names.', { project_id: '1', id: '12' }),
  objects: List(AuditedObject, 'What changed, old and new.'),
  note: Nullable(Text('Why, from `X-Halyard-Note`.', 'Launch')),
  request_id: Nullable(Text('`X-Request-Id` of the response.')),
  pruned: Type.Optional(
    ObjectOf('The last entry that the retention removed, as a signed checkpoint.', {
      sequence: sequence('Sequence of the entry.'),
      hash: hash('Hash of the entry.'),
      key: Type.Optional(Text('Public key (Ed25519) that signed, in base64url.')),
      signature: Type.Optional(Text('Signature of the place of this entry and of the last one removed.')),
    }),
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
})
export type AuditEntry = Static<typeof AuditEntry>

const log = '/api/organizations/:parent_lookup_organization_id/audit_log' as const
const access = forAuditors(inOrganization('audit_log:read'))

const route = routesOf('Audit log', { params: OrganizationParams })

export const auditRoutes = {
  list: route.get(log, {
    operationId: 'listAuditLog',
    isAudited: true,
    summary: 'List the audit log of the organization, newest first',
    description:
      'For admins, owners and auditors. Reading it leaves an entry too. Follow `next` for older entries. A search that takes longer than five seconds is refused: narrow it by time.',
    access,
    query: Type.Object({
      limit: Type.Optional(Integer('Entries per page (default 100, at most 1000).')),
      before: Type.Optional(Integer('Only entries with a smaller sequence.')),
      user: Type.Optional(Text('Only entries by this user: id, UUID or email.')),
      object: Type.Optional(Text('Only entries about this object, such as `FeatureFlag/12`.')),
      operation: Type.Optional(Text('Only this operation, such as `updateFeatureFlag`.')),
      date_from: Type.Optional(Type.String({ format: 'date-time', description: 'Only entries at or after this.' })),
      date_to: Type.Optional(Type.String({ format: 'date-time', description: 'Only entries before this.' })),
      search: Type.Optional(Text('Only entries that contain this text, in any case.')),
    }),
    responses: {
      200: NamedObject('AuditLogPage', 'A page of the audit log.', {
        next: Nullable(Text('URL of the next page.', null)),
        results: List(AuditEntry, 'Entries of this page.'),
      }),
    },
  }),
  head: route.get(`${log}/head`, {
    operationId: 'getAuditLogHead',
    summary: 'Get the newest entry of the audit log, to compare exports with it later',
    description: 'Write it down outside of Halyard: with it, a log that was cut off or replaced is found.',
    access,
    responses: {
      200: NamedObject('AuditLogHead', 'The end of the audit log.', {
        sequence: sequence('Sequence of the newest entry; 0 when there is none.'),
        hash: hash('Its hash.'),
        pruned: Link('The last entry that the retention removed; sequence 0 when none was.'),
        checkpoint_key: hash('SHA-256 of the public key that signs checkpoints, for `halyard audit verify --key`.'),
      }),
    },
  }),
  export: route.get(`${log}/export`, {
    operationId: 'exportAuditLog',
    isAudited: true,
    summary: 'Export the audit log with its chain of hashes',
    description:
      'Streams JSON Lines: entries from the oldest, and the head as the last line. `halyard audit verify` checks the file. With `format=cef`, events in the Common Event Format.',
    access,
    query: Type.Object({
      format: Type.Optional(OneOf(['jsonl', 'cef'], { description: 'Default `jsonl`.' })),
      after: Type.Optional(Integer('Only entries after this sequence.')),
    }),
    mediaType: 'application/x-ndjson',
    responses: { 200: Text('A line for each entry.') },
  }),
}
