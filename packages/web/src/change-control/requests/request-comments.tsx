import { type RequestComment, requestCommentCharactersMax, routes } from '@halyard/contract'
import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCurrentScope } from '../../services/current-scope.ts'
import { canWrite, isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMe, useMembershipLevel } from '../../services/session-queries.ts'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { commentsKey } from './request-queries.ts'
import { TimelineEntry } from './timeline-entry.tsx'

export type CommentWrites = ReturnType<typeof useCommentWrites>

/** Writes, edits and deletes comments on a request. */
export function useCommentWrites(projectId: string, requestId: number) {
  const call = useCall()
  const queries = useQueryClient()
  const params = { project_id: projectId, request_id: String(requestId) }
  const onSuccess = () => queries.invalidateQueries({ queryKey: commentsKey(projectId, requestId) })
  const add = useMutation({
    mutationFn: (body: { text: string; parent_id?: number }) => call(routes.requestComments.create, { params, body }),
    onSuccess,
  })
  const edit = useMutation({
    mutationFn: ({ id, text }: { id: number; text: string }) =>
      call(routes.requestComments.update, { params: { ...params, comment_id: String(id) }, body: { text } }),
    onSuccess,
  })
  const remove = async (id: number) => {
    await call(routes.requestComments.remove, { params: { ...params, comment_id: String(id) } })
    await onSuccess()
  }
  return { add, edit, remove }
}

interface Props {
  comment: RequestComment
  replies: readonly RequestComment[]
  writes: CommentWrites
}

/** A comment in the timeline, with its replies below it. */
export function CommentThread({ comment, replies, writes }: Props) {
  const t = useMessages()
  const [isReplying, setIsReplying] = useState(false)
  const level = useMembershipLevel(useCurrentScope().organizationId)
  return (
    <Comment comment={comment} writes={writes}>
      <Stack gap="sm" mt={replies.length > 0 || isReplying ? 'sm' : 0}>
        {replies.map(reply => (
          <Comment key={reply.id} comment={reply} writes={writes} />
        ))}
        {isReplying ? (
          <CommentForm
            label={t.requests.reply}
            onSubmit={text => writes.add.mutateAsync({ text, parent_id: comment.id })}
            onClose={() => setIsReplying(false)}
          />
        ) : (
          canWrite(level) && (
            <Group>
              <Button size="compact-sm" variant="subtle" ml={-8} onClick={() => setIsReplying(true)}>
                {t.requests.reply}
              </Button>
            </Group>
          )
        )}
      </Stack>
    </Comment>
  )
}

interface CommentProps {
  comment: RequestComment
  writes: CommentWrites
  children?: ReactNode
}

function Comment({ comment, writes, children }: CommentProps) {
  const t = useMessages()
  const me = useMe().data
  const level = useMembershipLevel(useCurrentScope().organizationId)
  const [isEditing, setIsEditing] = useState(false)
  const isOwn = canWrite(level) && me?.uuid === comment.created_by.uuid
  return (
    <TimelineEntry
      who={comment.created_by}
      what={comment.parent_id === null ? t.requests.didComment : t.requests.didReply}
      at={comment.created_at}
      note={comment.edited_at === null ? '' : t.requests.edited}
      actions={
        <>
          {isOwn && !isEditing && (
            <Button size="compact-sm" variant="subtle" onClick={() => setIsEditing(true)}>
              {t.requests.editComment}
            </Button>
          )}
          {(isOwn || isAdmin(level)) && (
            <ConfirmButton
              label={t.flagDetails.deleteComment}
              question={t.flagDetails.deleteCommentQuestion(comment.created_by.first_name || comment.created_by.email)}
              detail={t.flagDetails.deleteCommentDetail}
              done={t.flagDetails.commentDeleted}
              onConfirm={() => writes.remove(comment.id)}
            />
          )}
        </>
      }
    >
      {isEditing ? (
        <CommentForm
          label={t.common.save}
          initial={comment.text}
          onSubmit={text => writes.edit.mutateAsync({ id: comment.id, text })}
          onClose={() => setIsEditing(false)}
        />
      ) : (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
          {comment.text}
        </Text>
      )}
      {children}
    </TimelineEntry>
  )
}

interface FormProps {
  label: string
  initial?: string
  onSubmit: (text: string) => Promise<unknown>
  onClose: () => void
}

function CommentForm({ label, initial = '', onSubmit, onClose }: FormProps) {
  const t = useMessages()
  const [text, setText] = useState(initial)
  const submit = useMutation({ mutationFn: () => onSubmit(text), onSuccess: onClose })
  return (
    <Stack gap="xs">
      <Textarea
        aria-label={t.requests.commentText}
        autosize
        autoFocus
        minRows={2}
        maxLength={requestCommentCharactersMax}
        value={text}
        onChange={event => setText(event.currentTarget.value)}
      />
      <ProblemAlert error={submit.error} />
      <Group gap="xs">
        <Button size="xs" disabled={text.trim() === ''} loading={submit.isPending} onClick={() => submit.mutate()}>
          {label}
        </Button>
        <Button size="xs" variant="default" onClick={onClose}>
          {t.common.cancel}
        </Button>
      </Group>
    </Stack>
  )
}
