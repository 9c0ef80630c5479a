import type { Kysely } from 'kysely'
import type { PageOf, Window } from '../../../pagination.ts'
import { readPage } from '../../../storage/read-page.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import {
  type EmbeddedUser,
  embeddedUser,
  type OptionalUser,
  readOptionalUser,
  readUser,
} from '../../identity/embedded-user.sql.ts'
import type { FlagComment, FlagDetails, FlagDetailsPatch } from './flag-details.ts'

export function sqlFlagDetailsStore(db: Kysely<Tables>) {
  const details = (projectId: number) =>
    db
      .selectFrom('flag_details')
      .leftJoin('users as owner', 'owner.id', 'flag_details.owner_id')
      .select(['flag_details.flag_id', 'flag_details.expected_end', 'flag_details.links'])
      .select(({ selectFrom }) =>
        selectFrom('flag_comments')
          .select(({ fn }) => fn.countAll<number>().as('n'))
          .whereRef('flag_comments.flag_id', '=', 'flag_details.flag_id')
          .as('comments'),
      )
      .select(embeddedUser('owner'))
      .where('flag_details.project_id', '=', projectId)

  const comments = (projectId: number, flagId: number) =>
    db
      .selectFrom('flag_comments')
      .innerJoin('users as author', 'author.id', 'flag_comments.created_by_id')
      .select(['flag_comments.id', 'flag_comments.flag_id', 'flag_comments.text', 'flag_comments.created_at'])
      .select(embeddedUser('author'))
      .where('flag_comments.project_id', '=', projectId)
      .where('flag_comments.flag_id', '=', flagId)

  const ensureRow = (projectId: number, flagId: number) =>
    db
      .insertInto('flag_details')
      .values({ flag_id: flagId, project_id: projectId, owner_id: null, expected_end: null, links: '[]' })
      .onConflict(conflict => conflict.column('flag_id').doNothing())
      .execute()

  return {
    /** Undefined when nothing is stored. */
    async find(projectId: number, flagId: number): Promise<FlagDetails | undefined> {
      const row = await details(projectId).where('flag_details.flag_id', '=', flagId).executeTakeFirst()
      return row && toDetails(row)
    },
    async findMany(projectId: number, flagIds: readonly number[]): Promise<readonly FlagDetails[]> {
      if (flagIds.length === 0) return []
      const rows = await details(projectId).where('flag_details.flag_id', 'in', flagIds).execute()
      return rows.map(toDetails)
    },
    /** By flag id. */
    list(projectId: number, window: Window): Promise<PageOf<FlagDetails>> {
      return readPage(details(projectId).orderBy('flag_details.flag_id'), window, toDetails)
    },
    /** Writes only the fields of the patch, so that two requests never revert each other's. */
    async save(projectId: number, flagId: number, { ownerId, expectedEnd, links }: FlagDetailsPatch): Promise<void> {
      await ensureRow(projectId, flagId)
      const sent = {
        ...(ownerId !== undefined && { owner_id: ownerId }),
        ...(expectedEnd !== undefined && { expected_end: expectedEnd }),
        ...(links !== undefined && { links: JSON.stringify(links) }),
      }
      if (Object.keys(sent).length === 0) return
      await db
        .updateTable('flag_details')
        .set(sent)
        .where('flag_id', '=', flagId)
        .where('project_id', '=', projectId)
        .execute()
    },
    async addComment(projectId: number, comment: Omit<FlagComment, 'id'>): Promise<FlagComment> {
      // The count of comments is read with the row of the flag.
      await ensureRow(projectId, comment.flagId)
      const { id } = await db
        .insertInto('flag_comments')
        .values({
          flag_id: comment.flagId,
          project_id: projectId,
          created_by_id: comment.createdBy.id,
          text: comment.text,
          created_at: comment.createdAt,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...comment, id }
    },
    async findComment(projectId: number, flagId: number, commentId: number): Promise<FlagComment | undefined> {
      const row = await comments(projectId, flagId).where('flag_comments.id', '=', commentId).executeTakeFirst()
      return row && toComment(row)
    },
    /** Newest first. */
    listComments(projectId: number, flagId: number, window: Window): Promise<PageOf<FlagComment>> {
      return readPage(comments(projectId, flagId).orderBy('flag_comments.id', 'desc'), window, toComment)
    },
    async removeComment(commentId: number): Promise<void> {
      await db.deleteFrom('flag_comments').where('id', '=', commentId).execute()
    },
  }
}

type DetailsJoin = OptionalUser<'owner'> & {
  flag_id: number
  expected_end: string | null
  links: string
  comments: number | null
}

const toDetails = (row: DetailsJoin): FlagDetails => ({
  flagId: row.flag_id,
  owner: readOptionalUser(row, 'owner'),
  expectedEnd: row.expected_end,
  links: JSON.parse(row.links),
  commentCount: Number(row.comments ?? 0),
})

type CommentJoin = EmbeddedUser<'author'> & { id: number; flag_id: number; text: string; created_at: string }

const toComment = (row: CommentJoin): FlagComment => ({
  id: row.id,
  flagId: row.flag_id,
  text: row.text,
  createdBy: readUser(row, 'author'),
  createdAt: row.created_at,
})
