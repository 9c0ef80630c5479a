import type { Kysely, Selectable } from 'kysely'
import type { Freeze } from '../../../domain/freeze.ts'
import { preparedQuery } from '../../../storage/prepared-query.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../../identity/embedded-user.sql.ts'

/** Every write of a flag or cohort reads this. */
const findFreezes = preparedQuery((db, { organizationId }: { organizationId: string }) =>
  db
    .selectFrom('freezes')
    .innerJoin('users as creator', 'creator.id', 'freezes.created_by_id')
    .selectAll('freezes')
    .select(embeddedUser('creator'))
    .where('freezes.organization_id', '=', organizationId)
    .orderBy('freezes.id', 'desc'),
)

export const sqlFreezeStore = (db: Kysely<Tables>) => ({
  async create(freeze: Omit<Freeze, 'id'>): Promise<Freeze> {
    const { id } = await db.insertInto('freezes').values(fromFreeze(freeze)).returning('id').executeTakeFirstOrThrow()
    return { ...freeze, id }
  },
  /** False when there was none. */
  async remove(organizationId: string, freezeId: number): Promise<boolean> {
    const removed = await db
      .deleteFrom('freezes')
      .where('organization_id', '=', organizationId)
      .where('id', '=', freezeId)
      .executeTakeFirst()
    return removed.numDeletedRows > 0n
  },
  /** Newest first; an organization has few. */
  async list(organizationId: string): Promise<readonly Freeze[]> {
    const { rows } = await findFreezes(db, { organizationId })
    return rows.map(toFreeze)
  },
})

const toFreeze = (row: Selectable<Tables['freezes']> & EmbeddedUser<'creator'>): Freeze => ({
  id: row.id,
  organizationId: row.organization_id,
  environmentSetId: row.environment_set_id,
  projectId: row.project_id,
  tag: row.tag,
  when:
    row.rrule === null
      ? { startsAt: row.starts_at ?? '', endsAt: row.ends_at ?? '' }
      : { rrule: row.rrule, durationMinutes: row.duration_minutes ?? 0, timeZone: row.time_zone },
  reason: row.reason,
  exceptRoles: JSON.parse(row.except_roles),
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
})

const fromFreeze = ({ when, ...freeze }: Omit<Freeze, 'id'>): Omit<Selectable<Tables['freezes']>, 'id'> => ({
  organization_id: freeze.organizationId,
  environment_set_id: freeze.environmentSetId,
  project_id: freeze.projectId,
  tag: freeze.tag,
  starts_at: 'startsAt' in when ? when.startsAt : null,
  ends_at: 'startsAt' in when ? when.endsAt : null,
  rrule: 'rrule' in when ? when.rrule : null,
  duration_minutes: 'rrule' in when ? when.durationMinutes : null,
  time_zone: 'rrule' in when ? when.timeZone : 'UTC',
  reason: freeze.reason,
  except_roles: JSON.stringify(freeze.exceptRoles),
  created_by_id: freeze.createdBy.id,
  created_at: freeze.createdAt,
})
