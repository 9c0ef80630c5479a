import type { ChangeRequestDetail } from '@halyard/contract'
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Messages } from '../../i18n/en.ts'
import type { Formats } from '../../i18n/formats.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCanWrite } from '../../services/session-queries.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import type { RequestActions } from './request-actions.tsx'
import { CommentThread, useCommentWrites } from './request-comments.tsx'
import classes from './request-page.module.css'
import { useRequestComments } from './request-queries.ts'
import { TimelineEntry } from './timeline-entry.tsx'

interface Step {
  readonly key: string
  readonly at: string
  readonly who: ChangeRequestDetail['created_by'] | null | undefined
  readonly what: string
  readonly text: string
}

interface Props {
  projectId: string
  request: ChangeRequestDetail
  actions: RequestActions
}

/** What has happened to the request and was said about it, oldest first, then what comes next. */
export function RequestTimeline({ projectId, request, actions }: Props) {
  const t = useMessages()
  const formats = useFormats()
  const comments = useRequestComments(projectId, request.id).data ?? []
  const writes = useCommentWrites(projectId, request.id)
  const steps = stepsOf(request, t).map(({ key, at, who, what, text }) => ({
    key,
    at,
    content: (
      <TimelineEntry who={who} what={what} at={at}>
        {text !== '' && (
          <Text size="sm" c="dimmed" style={{ whiteSpace: 'pre-wrap' }}>
            {text}
          </Text>
        )}
      </TimelineEntry>
    ),
  }))
  const threads = comments
    .filter(({ parent_id }) => parent_id === null)
    .map(comment => ({
      key: `comment ${comment.id}`,
      at: comment.created_at,
      content: (
        <CommentThread
          comment={comment}
          replies={comments.filter(({ parent_id }) => parent_id === comment.id)}
          writes={writes}
        />
      ),
    }))
  const entries = [...steps, ...threads].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
  return (
    <Stack gap="sm">
      <ol className={classes.entries}>
        {entries.map(({ key, content }) => (
          <li key={key}>{content}</li>
        ))}
      </ol>
      {nextOf(request, t, formats).map(line => (
        <Text key={line} size="sm" c="dimmed">
          {line}
        </Text>
      ))}
      <NewComment projectId={projectId} actions={actions} writes={writes} />
    </Stack>
  )
}

/** A comment of its own, or one that goes with the decision. */
function NewComment({
  projectId,
  actions,
  writes,
}: Pick<Props, 'projectId' | 'actions'> & { writes: ReturnType<typeof useCommentWrites> }) {
  const t = useMessages()
  const canComment = useCanWrite(projectId)
  const { comment, commentField, clearComment, isDecidable } = actions
  if (!canComment) return null
  return (
    <Stack gap="xs">
      {commentField(isDecidable ? t.requests.comment : t.requests.commentText)}
      <ProblemAlert error={writes.add.error} />
      <Group justify="flex-end">
        <Button
          variant="default"
          disabled={comment.trim() === ''}
          loading={writes.add.isPending}
          onClick={() => writes.add.mutate({ text: comment }, { onSuccess: clearComment })}
        >
          {t.requests.addComment}
        </Button>
      </Group>
    </Stack>
  )
}

function stepsOf(request: ChangeRequestDetail, t: Messages): readonly Step[] {
  const { state, approvals, review, applied_at, applied_version, updated_at, apply_error, through } = request
  const key = through && through !== 'Sign-in' ? t.requests.through(through) : ''
  const opened = {
    key: 'opened',
    at: request.created_at,
    who: request.created_by,
    what: [t.requests.didOpen, key].filter(Boolean).join(' '),
    text: [request.reason, request.emergency_reason].filter(Boolean).join('\n'),
  }
  const decisions = approvals.map(({ created_by, decision, reason, created_at, is_current }) => ({
    key: `${created_by.id} ${created_at}`,
    at: created_at,
    who: created_by,
    what: [t.requests.decided[decision] ?? decision, is_current ? '' : `(${t.requests.outdated})`].join(' '),
    text: reason,
  }))
  const reviewed = review && {
    key: 'reviewed',
    at: review.reviewed_at,
    who: review.reviewed_by,
    what: t.requests.didReview,
    text: review.note,
  }
  const applied = applied_at !== null && {
    key: 'applied',
    at: applied_at,
    who: request.applied_by,
    what: [t.requests.didApply, applied_version ? t.requests.appliedVersion(applied_version) : ''].join(' '),
    text: '',
  }
  const names: Readonly<Record<string, string>> = t.requests.states
  const end = endStates.includes(state) && {
    key: 'ended',
    at: updated_at,
    who: undefined,
    what: names[state] ?? state,
    text: apply_error ?? '',
  }
  return [opened, ...decisions, applied, reviewed, end]
    .filter(step => step !== null && step !== false)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

/** Those that no decision leads to. */
const endStates = ['cancelled', 'expired', 'failed', 'conflicted']

/** When something happens to it next. */
function nextOf(request: ChangeRequestDetail, t: Messages, { moment }: Formats): readonly string[] {
  const { state, expires_at, apply_at, next_attempt_at } = request
  const line = (name: string, instant: string) => `${name}: ${moment(instant)}`
  const isOpen = state === 'pending' || state === 'approved' || state === 'conflicted'
  const isWaiting = state === 'approved' && next_attempt_at !== null && next_attempt_at !== apply_at
  return [
    ...(isOpen && apply_at ? [line(t.requests.applyAt, apply_at)] : []),
    ...(state === 'pending' ? [line(t.requests.expires, expires_at)] : []),
    ...(isWaiting ? [line(t.requests.nextAttempt, next_attempt_at)] : []),
  ]
}
