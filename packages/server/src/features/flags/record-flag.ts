import { type Author, authorOf, type FieldChange, type NewActivity } from '../../domain/activity.ts'
import { contentOf, type Flag, type FlagVersion } from '../../domain/flag.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'

export interface FlagRecord {
  readonly activity: string
  readonly changes: readonly FieldChange[]
  readonly trigger?: Readonly<Record<string, unknown>> | null
}

/** What belongs to every saved flag, in the same transaction: its version, the activity entry and the change. */
export async function recordFlag(
  tx: Stores,
  author: Author,
  project: Project,
  flag: Flag,
  record: FlagRecord,
  now: Instant,
): Promise<void> {
  await tx.flags.appendVersion(versionOf(author, flag, now))
  await appendFlagActivity(tx, author, project, flag, record, now)
  await announceFlag(tx, project, flag.id, now)
}

/** The same for many flags. */
export async function recordFlags(
  tx: Stores,
  author: Author,
  project: Project,
  saved: readonly { readonly flag: Flag; readonly record: FlagRecord }[],
  now: Instant,
): Promise<void> {
  await tx.flags.appendVersions(saved.map(({ flag }) => versionOf(author, flag, now)))
  await tx.activity.appendAll(saved.map(({ flag, record }) => flagActivity(author, project, flag, record, now)))
  for (const { flag } of saved) await announceFlag(tx, project, flag.id, now)
}

const versionOf = (author: Author, flag: Flag, now: Instant): FlagVersion => ({
  flagId: flag.id,
  version: flag.version,
  content: contentOf(flag),
  user: author?.user ?? null,
  createdAt: now,
})

export const appendFlagActivity = (
  tx: Stores,
  author: Author,
  project: Project,
  flag: Pick<Flag, 'id' | 'key'>,
  record: FlagRecord,
  now: Instant,
): Promise<void> => tx.activity.append(flagActivity(author, project, flag, record, now))

const flagActivity = (
  author: Author,
  project: Project,
  flag: Pick<Flag, 'id' | 'key'>,
  { activity, changes, trigger = null }: FlagRecord,
  now: Instant,
): NewActivity => ({
  organizationId: project.organizationId,
  projectId: project.id,
  scope: 'FeatureFlag',
  itemId: String(flag.id),
  activity,
  ...authorOf(author),
  detail: { name: flag.key, changes, trigger },
  createdAt: now,
})

export const announceFlag = (tx: Stores, project: Project, flagId: number, now: Instant): Promise<void> =>
  tx.changes.append({
    topic: 'flag',
    organizationId: project.organizationId,
    projectId: project.id,
    entityId: String(flagId),
    at: now,
  })
