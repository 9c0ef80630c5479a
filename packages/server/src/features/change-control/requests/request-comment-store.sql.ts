import type { Kysely } from 'kysely'
import type { Instant } from '../../../instant.ts'
import type { PageOf, Window } from '../../../pagination.ts'
import { readPage } from '../../../storage/read-page.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { User } from '../../../tenancy.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../../identity/embedded-user.sql.ts'

export interface RequestComment {
  readonly id: number
  readonly requestId: number
  /** The comment that it replies to. */
  readonly parentId: number | null
  readonly text: string
  readonly createdBy: User
  readonly createdAt: Instant
  readonly editedAt: Instant | null
}

export function sqlRequestCommentStore(db: Kysely<Tables>) {
  const comments = (projectId: number, requestId: number) =>
    db
      .selectFrom('change_request_comments')
      .innerJoin('users as author', 'author.id', 'change_request_comments.created_by_id')
      .selectAll('change_request_comments')
      .select(embeddedUser('author'))
      .where('change_request_comments.project_id', '=', projectId)
      .where('change_request_comments.change_request_id', '=', requestId)

  return {
    async add(projectId: number, comment: Omit<RequestComment, 'id'>): Promise<RequestComment> {
      const { id } = await db
        .insertInto('change_request_comments')
        .values({
          project_id: projectId,
          change_request_id: comment.requestId,
          parent_id: comment.parentId,
          created_by_id: comment.createdBy.id,
          text: comment.text,
          created_at: comment.createdAt,
          edited_at: comment.editedAt,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...comment, id }
    },
    async find(projectId: number, requestId: number, commentId: number): Promise<RequestComment | undefined> {
      const row = await comments(projectId, requestId)
        .where('change_request_comments.id', '=', commentId)
        .executeTakeFirst()
      return row && toComment(row)
    },
    /** Oldest first. */
    list(projectId: number, requestId: number, window: Window): Promise<PageOf<RequestComment>> {
      return readPage(comments(projectId, requestId).orderBy('change_request_comments.id'), window, toComment)
    },
    async edit({ id, text, editedAt }: RequestComment): Promise<void> {
      await db.updateTable('change_request_comments').set({ text, edited_at: editedAt }).where('id', '=', id).execute()
    },
    /** With its replies. */
    async remove(commentId: number): Promise<void> {
      await db.deleteFrom('change_request_comments').where('id', '=', commentId).execute()
    },
  }
}

type CommentJoin = EmbeddedUser<'author'> & {
  id: number
  change_request_id: number
  parent_id: number | null
  text: string
  created_at: string
  edited_at: string | null
}

const toComment = (row: CommentJoin): RequestComment => ({
  id: row.id,
  requestId: row.change_request_id,
  parentId: row.parent_id,
  text: row.text,
  createdBy: readUser(row, 'author'),
  createdAt: row.created_at,
  editedAt: row.edited_at,
})
