import { flagCommentCharactersMax, routes } from '@halyard/contract'
import { Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { canWrite, isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMe, useMembershipLevel } from '../../services/session-queries.ts'
import { LoadMoreList } from '../../ui/data/load-more-list.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { unlessEdited } from '../../ui/form/unless-edited.ts'

const pageSize = 20

interface Props {
  params: { project_id: string; id: string }
  organizationId: string
}

export function FlagComments({ params, organizationId }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const me = useMe().data
  const level = useMembershipLevel(organizationId)
  const [text, setText] = useState('')
  const queryKey = ['flag-comments', params.project_id, params.id]
  const comments = useInfiniteQuery({
    queryKey,
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      call(routes.flagDetails.listComments, {
        params,
        query: { limit: String(pageSize), offset: String(pageParam) },
        signal,
      }),
    getNextPageParam: (last, pages) => (last.next === null ? undefined : pages.length * pageSize),
  })
  const add = useMutation({
    mutationFn: (comment: string) => call(routes.flagDetails.createComment, { params, body: { text: comment } }),
    onSuccess: (_, comment) => {
      setText(unlessEdited(comment, ''))
      return queries.invalidateQueries({ queryKey })
    },
  })
  const remove = async (id: number) => {
    await call(routes.flagDetails.deleteComment, { params: { ...params, comment_id: String(id) } })
    await queries.invalidateQueries({ queryKey })
  }
  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={t.flagDetails.comments}>
      <Stack gap="sm">
        <Title order={2}>{t.flagDetails.comments}</Title>
        <ProblemAlert error={add.error} />
        {canWrite(level) && (
          <>
            <Textarea
              aria-label={t.flagDetails.newComment}
              placeholder={t.flagDetails.newComment}
              autosize
              minRows={2}
              maxLength={flagCommentCharactersMax}
              value={text}
              onChange={event => setText(event.currentTarget.value)}
            />
            <Group justify="flex-end">
              <Button disabled={text.trim() === ''} loading={add.isPending} onClick={() => add.mutate(text)}>
                {t.flagDetails.addComment}
              </Button>
            </Group>
          </>
        )}
        <LoadMoreList
          query={comments}
          empty={
            <Text size="sm" c="dimmed">
              {t.flagDetails.noComments}
            </Text>
          }
        >
          {comment => (
            <article>
              <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
                <Text size="sm" c="dimmed">
                  {comment.created_by.first_name || comment.created_by.email} ·{' '}
                  <RelativeTime instant={comment.created_at} />
                </Text>
                {(isAdmin(level) || (canWrite(level) && me?.uuid === comment.created_by.uuid)) && (
                  <ConfirmButton
                    flex="none"
                    label={t.flagDetails.deleteComment}
                    question={t.flagDetails.deleteCommentQuestion(
                      comment.created_by.first_name || comment.created_by.email,
                    )}
                    detail={t.flagDetails.deleteCommentDetail}
                    done={t.flagDetails.commentDeleted}
                    onConfirm={() => remove(comment.id)}
                  />
                )}
              </Group>
              <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                {comment.text}
              </Text>
            </article>
          )}
        </LoadMoreList>
      </Stack>
    </Paper>
  )
}
