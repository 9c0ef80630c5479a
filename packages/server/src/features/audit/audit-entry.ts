import type { NewActivity } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import type { Origin } from '../../origin.ts'
import type { User } from '../../tenancy.ts'
import { type Checkpoint, canonicalJson, type Link, sha256 } from './verify-chain.ts'

/** One entry of an organization's audit log, before it has its place in the chain. */
export interface NewAuditEntry {
  readonly organizationId: string
  readonly at: Instant
  /** Null for the system. */
  readonly user: Pick<User, 'id' | 'email' | 'firstName'> | null
  readonly origin: Origin
  readonly activities: readonly NewActivity[]
  /** The last entry that was removed by the retention, or that existed when a backup was restored. */
  readonly pruned?: Checkpoint
  readonly restored?: Link
}

/** Columns beside the content, for filters and the retention. The hash covers the content alone, from which they can be derived again. */
export interface AuditColumns {
  readonly organizationId: string
  readonly at: Instant
  readonly userId: number | null
  readonly operation: string
  /** For the filter: ` FeatureFlag/12 Cohort/3 `. */
  readonly objects: string
}

export interface AuditRow extends AuditColumns {
  /** The canonical JSON in three parts: the hash of the entry before stands between the first two, the sequence after the second. */
  readonly start: string
  readonly middle: string
}

/** Larger entries, as of imports, hold the hash of each object's changes instead of the changes. */
const objectsCharactersMax = 500_000
const filterObjectsMax = 500

/** Members are written in canonical order, so that the database can insert the two that it alone knows. */
export function auditRow(entry: NewAuditEntry): AuditRow {
  const { organizationId, at, user, origin, activities, pruned, restored } = entry
  const content = {
    actor: user ? { email: user.email, id: user.id, name: user.firstName } : null,
    address: origin.address,
    at,
    credential: origin.credential,
    note: origin.note,
    objects: boundedObjects(activities, user),
    operation: origin.operation,
    organization: organizationId,
    path: origin.path,
  }
  const start = canonicalJson(content)
  const end = canonicalJson({ pruned, request_id: origin.requestId, restored })
  return {
    ...columnsOf(content),
    start: `${start.slice(0, -1)},"previous_hash":"`,
    middle: `",${end.slice(1, -1)},"sequence":`,
  }
}

type Named = { readonly type: string; readonly id: string }
interface ColumnSource {
  readonly organization: string
  readonly at: Instant
  readonly actor: { readonly id: number } | null
  readonly operation: string
  readonly objects: readonly Named[]
}

/** The columns of an entry with this content. */
export const columnsOf = ({ organization, at, actor, operation, objects }: ColumnSource): AuditColumns => ({
  organizationId: organization,
  at,
  userId: actor?.id ?? null,
  operation,
  objects: filterText(objects),
})

/** The text whose SHA-256 is the hash of the entry. */
export const contentOf = ({ start, middle }: AuditRow, previousHash: string, sequence: number): string =>
  `${start}${previousHash}${middle}${sequence}}`

function boundedObjects(activities: readonly NewActivity[], user: NewAuditEntry['user']): readonly Named[] {
  const objects = activities.map(activity => objectOf(activity, user))
  if (activities.length === 1 || canonicalJson(objects).length <= objectsCharactersMax) return objects
  return objects.map(({ changes, ...object }) => ({ ...object, changes_sha256: sha256(canonicalJson(changes)) }))
}

/** In canonical order, which need not be sorted. */
const objectOf = (
  { scope, itemId, projectId, activity, detail, user: author }: NewActivity,
  user: NewAuditEntry['user'],
) => ({
  activity,
  changes: detail.changes.map(({ action, field, before = null, after = null }) => ({ action, after, before, field })),
  id: itemId,
  name: detail.name,
  // A change that was approved is made on behalf of its requester.
  on_behalf_of: author && author.id !== user?.id ? author.email : undefined,
  project: projectId,
  trigger: detail.trigger,
  type: scope,
})

const filterText = (objects: readonly Named[]): string => {
  const names = objects.slice(0, filterObjectsMax).map(({ type, id }) => `${type}/${id}`)
  return names.length === 0 ? '' : ` ${[...new Set(names)].join(' ')} `
}
