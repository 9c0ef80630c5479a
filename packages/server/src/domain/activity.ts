import { isDeepStrictEqual } from 'node:util'
import type { Instant } from '../instant.ts'
import type { Origin } from '../origin.ts'
import type { ActorKey, User } from '../tenancy.ts'

export type ActivityScope =
  | 'FeatureFlag'
  | 'Plugin'
  | 'PluginConfig'
  | 'Cohort'
  | 'ApprovalPolicy'
  | 'ChangeRequest'
  | 'Freeze'
  | 'EnvironmentSet'
  | 'Webhook'
  | AuditedScope

/** What only the audit log lists. */
export type AuditedScope =
  | 'AccessSetting'
  | 'Account'
  | 'ApiKey'
  | 'AuditLog'
  | 'CodeRepository'
  | 'Comment'
  | 'Dashboard'
  | 'Group'
  | 'IdentityProvider'
  | 'ImportCertificate'
  | 'ImportPlan'
  | 'Invitation'
  | 'Member'
  | 'Organization'
  | 'OrganizationDomain'
  | 'Person'
  | 'Project'
  | 'Role'
  | 'RoleMember'
  | 'SavedView'
  | 'ScimToken'
  | 'SecretKey'
  | 'ServiceKey'
  | 'SignIn'
  | 'TrustRelationship'

export interface FieldChange {
  readonly action: 'created' | 'changed' | 'deleted'
  readonly field: string | null
  readonly before: unknown
  readonly after: unknown
}

export interface ActivityDetail {
  readonly name: string
  readonly changes: readonly FieldChange[]
  readonly trigger: Readonly<Record<string, unknown>> | null
}

export interface ActivityEntry {
  readonly id: number
  readonly organizationId: string
  readonly projectId: number | null
  readonly scope: ActivityScope
  readonly itemId: string
  readonly activity: string
  /** Null for a change by the system. */
  readonly user: User | null
  /** The label of the key that was used. */
  readonly keyLabel: string | null
  readonly detail: ActivityDetail
  readonly createdAt: Instant
}

/** `origin` goes to the audit log only. */
export type NewActivity = Omit<ActivityEntry, 'id'> & { readonly origin?: Origin | undefined }

/** The author of a change: a user with a key, or null for the system (schedules, rollbacks). */
export type Author = {
  readonly user: User
  readonly key: Pick<ActorKey, 'label'>
  readonly origin?: Origin | undefined
} | null

export const authorOf = (author: Author): Pick<NewActivity, 'user' | 'keyLabel' | 'origin'> =>
  author
    ? { user: author.user, keyLabel: author.key.label, origin: author.origin }
    : { user: null, keyLabel: null, origin: undefined }

/** The changed fields, in the order of `after`. */
export function diffFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly FieldChange[] {
  return Object.keys(after)
    .filter(field => !isDeepStrictEqual(before[field], after[field]))
    .map(field => ({ action: 'changed', field, before: before[field], after: after[field] }))
}

export interface ActivityFilter {
  readonly organizationId: string
  readonly projectId?: number
  readonly scopes: readonly ActivityScope[]
  readonly itemId?: string
  /** Only entries about one of these items. */
  readonly items?: readonly { readonly scope: ActivityScope; readonly itemId: string }[]
  readonly userId?: number
  readonly activity?: string
  readonly entryId?: number
  readonly from?: Instant
  readonly to?: Instant
}
