import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { type Author, authorOf, type FieldChange } from '../activity/activity.ts'
import { contentOf, type Flag } from './flag.ts'

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
  await tx.flags.appendVersion({
    flagId: flag.id,
    version: flag.version,
    content: contentOf(flag),
    user: author?.user ?? null,
    createdAt: now,
  })
  await appendFlagActivity(tx, author, project, flag, record, now)
  await announceFlag(tx, project, flag.id, now)
}

export const appendFlagActivity = (
  tx: Stores,
  author: Author,
  project: Project,
  flag: Pick<Flag, 'id' | 'key'>,
  { activity, changes, trigger = null }: FlagRecord,
  now: Instant,
): Promise<void> =>
  tx.activity.append({
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
