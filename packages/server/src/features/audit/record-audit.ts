import { type ActivityScope, type Author, authorOf, diffFields, type FieldChange } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import { type Origin, originOf } from '../../origin.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, levelIn } from '../../tenancy.ts'

/** What is in the audit log but in no list of activity: rights, settings, sign-ins. */
export interface AuditRecord {
  readonly scope: ActivityScope
  readonly itemId: string | number
  readonly name: string
  readonly activity: string
  /** The fields as they were and as they are. Secrets never appear in them. */
  readonly before?: Readonly<Record<string, unknown>>
  readonly after?: Readonly<Record<string, unknown>>
  readonly reason?: string
}

/** The organizations in whose logs it appears. */
type Place = { readonly organizationId: string; readonly projectId?: number } | readonly string[]

/** A command that is run beside the database: it has an origin, but no user. */
interface CommandAuthor {
  readonly user: null
  readonly origin: Origin
}

export const commandLine = (operation: string): CommandAuthor => ({
  user: null,
  origin: originOf(operation, { kind: 'command_line', id: null, label: null }),
})

/** Becomes part of the transaction's entry. */
export function recordAudit(
  tx: Stores,
  author: Author | CommandAuthor,
  place: Place,
  record: AuditRecord,
  now: Instant,
): void {
  const { scope, itemId, name, activity, before, after, reason } = record
  const organizationIds = 'organizationId' in place ? [place.organizationId] : place
  const projectId = 'organizationId' in place ? (place.projectId ?? null) : null
  tx.audit.record(
    organizationIds.map(organizationId => ({
      organizationId,
      projectId,
      scope,
      itemId: String(itemId),
      activity,
      ...(author?.user === null ? { ...author, keyLabel: null } : authorOf(author)),
      detail: { name, changes: changesOf(before, after), trigger: reason === undefined ? null : { reason } },
      createdAt: now,
    })),
  )
}

function changesOf(before: AuditRecord['before'], after: AuditRecord['after']): readonly FieldChange[] {
  if (before && after) return diffFields(before, after)
  const action = after ? 'created' : 'deleted'
  return Object.entries(after ?? before ?? {}).map(([field, value]) => ({
    action,
    field,
    before: after ? null : value,
    after: after ? value : null,
  }))
}

/** What belongs to no organization, such as an account or its keys, is in the log of each that the user belongs to. */
export const organizationsOf = (actor: Pick<Actor, 'key' | 'levels'>): readonly string[] =>
  [...actor.levels.keys()].filter(id => levelIn(actor as Actor, id) !== undefined)
