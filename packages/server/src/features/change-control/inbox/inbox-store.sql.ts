import type { Kysely } from 'kysely'
import type { Instant } from '../../../instant.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { User } from '../../../tenancy.ts'
import { embeddedUser, readUser } from '../../identity/embedded-user.sql.ts'

/** A comment of someone else on a request that the user takes part in. */
export interface ReceivedComment {
  readonly requestId: number
  readonly title: string
  readonly state: string
  readonly flagId: number | null
  readonly text: string
  readonly createdBy: User
  readonly createdAt: Instant
}

export function sqlInboxStore(db: Kysely<Tables>) {
  return {
    async seenUntil(projectId: number, userId: number): Promise<Instant | null> {
      const row = await db
        .selectFrom('inbox_seen')
        .select('seen_until')
        .where('user_id', '=', userId)
        .where('project_id', '=', projectId)
        .executeTakeFirst()
      return row?.seen_until ?? null
    },
    /** Never moves back: of two tabs, the one that has seen more wins. */
    async markSeen(projectId: number, userId: number, until: Instant): Promise<void> {
      await db
        .insertInto('inbox_seen')
        .values({ user_id: userId, project_id: projectId, seen_until: until })
        .onConflict(oc =>
          oc
            .columns(['user_id', 'project_id'])
            .doUpdateSet({ seen_until: until })
            .where('inbox_seen.seen_until', '<', until),
        )
        .execute()
    },
    /** Newest first: on requests that the user opened, decided or commented on. */
    async receivedComments(projectId: number, userId: number, limit: number): Promise<readonly ReceivedComment[]> {
      const rows = await db
        .selectFrom('change_request_comments as comment')
        .innerJoin('change_requests as request', 'request.id', 'comment.change_request_id')
        .innerJoin('users as author', 'author.id', 'comment.created_by_id')
        .select([
          'comment.text',
          'comment.created_at',
          'request.id',
          'request.title',
          'request.state',
          'request.flag_id',
        ])
        .select(embeddedUser('author'))
        .where('comment.project_id', '=', projectId)
        .where('comment.created_by_id', '!=', userId)
        .where(({ or, eb, exists, selectFrom }) =>
          or([
            eb('request.requester_id', '=', userId),
            exists(
              selectFrom('change_request_comments as own')
                .select('own.id')
                .whereRef('own.change_request_id', '=', 'request.id')
                .where('own.created_by_id', '=', userId),
            ),
            exists(
              selectFrom('change_request_decisions as made')
                .select('made.id')
                .whereRef('made.change_request_id', '=', 'request.id')
                .where('made.user_id', '=', userId),
            ),
          ]),
        )
        .orderBy('comment.id', 'desc')
        .limit(limit)
        .execute()
      return rows.map(row => ({
        requestId: row.id,
        title: row.title,
        state: row.state,
        flagId: row.flag_id,
        text: row.text,
        createdBy: readUser(row, 'author'),
        createdAt: row.created_at,
      }))
    },
  }
}
