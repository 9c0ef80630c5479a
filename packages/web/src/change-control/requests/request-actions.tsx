import { type ChangeRequestDetail, routes } from '@halyard/contract'
import { Alert, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Wording } from '../../flags/flag-sentences.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCurrentScope } from '../../services/current-scope.ts'
import { isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMembershipLevel } from '../../services/session-queries.ts'
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { RebaseDialog } from './rebase-dialog.tsx'
import { requestKey } from './request-queries.ts'
import { RescheduleDialog } from './reschedule-dialog.tsx'

interface Props {
  projectId: string
  request: ChangeRequestDetail
  wording: Wording
}

type Action = 'approve' | 'reject' | 'cancel' | 'apply' | 'rebase' | 'review' | 'claim' | 'reschedule'

const reasonCharactersMax = 2000

/** What the user can do about a change request now. */
export function RequestActions({ projectId, request, wording }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [dialog, setDialog] = useState<'reject' | 'cancel' | 'rebase' | 'claim' | 'reschedule'>()
  const [comment, setComment] = useState('')
  const params = { project_id: projectId, request_id: String(request.id) }
  const act = useMutation({
    mutationFn: ({ action, body }: { action: Action; body?: object }) =>
      call(routes.changeRequests[action], { params, body: (body ?? {}) as never }),
    onSuccess: async ({ status, change_request }, { action }) => {
      queries.setQueryData(requestKey(projectId, String(request.id)), change_request)
      setComment('')
      notify.success({
        id: `request-${request.id}`,
        message:
          action === 'approve' && status === 'pending' ? t.requests.youApproved : (t.requests.done[status] ?? status),
      })
      await queries.invalidateQueries({ queryKey: ['change-requests', projectId] })
    },
    // It may have changed since it was shown.
    onError: () => queries.invalidateQueries({ queryKey: requestKey(projectId, String(request.id)) }),
  })
  const level = useMembershipLevel(useCurrentScope().organizationId)
  const { state, can_approve, can_cancel, user_decision, conflicts } = request
  const canApprove = can_approve && user_decision === null
  const isConflicted = state === 'conflicted' || (state === 'pending' && conflicts.length > 0)
  const canReschedule = (state === 'pending' || state === 'approved') && request.resource_type !== 'scheduled_change'
  const requester = request.created_by.first_name || request.created_by.email
  const canReview =
    request.emergency_reason !== null && request.review === null && isAdmin(level) && !request.is_requester
  const comments = (label: string) => (
    <Textarea
      label={label}
      autosize
      minRows={2}
      maxLength={reasonCharactersMax}
      value={comment}
      onChange={event => setComment(event.currentTarget.value)}
    />
  )
  return (
    <Stack gap="sm">
      {request.emergency_reason !== null && request.review === null && (
        <Alert color="red" title={t.requests.emergency}>
          <Text size="sm">{t.requests.reviewIntro}</Text>
          {canReview && (
            <Stack gap="xs" mt="xs">
              {comments(t.requests.reviewNote)}
              <Group>
                <Button
                  size="xs"
                  color="red"
                  disabled={comment.trim() === ''}
                  loading={act.isPending}
                  onClick={() => act.mutate({ action: 'review', body: { note: comment } })}
                >
                  {t.requests.review}
                </Button>
              </Group>
            </Stack>
          )}
        </Alert>
      )}
      {state === 'pending' && !canApprove && (
        <Text size="sm" c="dimmed">
          {user_decision !== null
            ? t.requests.youApproved
            : request.is_requester
              ? t.requests.ownRequest
              : t.requests.cannotApprove}
        </Text>
      )}
      {request.can_claim && <Text size="sm">{t.requests.claimHint(requester)}</Text>}
      {canApprove && !isConflicted && comments(t.requests.comment)}
      {!dialog && <ProblemAlert error={act.error} />}
      <Group gap="xs">
        {canApprove && !isConflicted && (
          <Button
            loading={act.isPending}
            onClick={() =>
              act.mutate({ action: 'approve', body: { reason: comment, content_hash: request.content_hash } })
            }
          >
            {t.requests.approve}
          </Button>
        )}
        {canApprove && (
          <Button variant="default" onClick={() => setDialog('reject')}>
            {t.requests.reject}
          </Button>
        )}
        {isConflicted && <Button onClick={() => setDialog('rebase')}>{t.requests.rebase}</Button>}
        {state === 'approved' && request.frozen_until === null && !isTimed(request) && (
          <Button loading={act.isPending} onClick={() => act.mutate({ action: 'apply' })}>
            {t.requests.apply}
          </Button>
        )}
        {request.can_claim && (
          <Button variant="default" onClick={() => setDialog('claim')}>
            {t.requests.claim}
          </Button>
        )}
        {canReschedule && (
          <Button variant="default" onClick={() => setDialog('reschedule')}>
            {t.requests.reschedule}
          </Button>
        )}
        {can_cancel && (
          <Button variant="default" onClick={() => setDialog('cancel')}>
            {t.requests.cancel}
          </Button>
        )}
      </Group>
      <ConfirmDialog
        isOpen={dialog === 'reject'}
        title={t.requests.rejectTitle}
        question={comments(t.requests.rejectReason)}
        label={t.requests.reject}
        onConfirm={() => act.mutateAsync({ action: 'reject', body: { reason: comment } })}
        onClose={() => setDialog(undefined)}
      />
      <ConfirmDialog
        isOpen={dialog === 'cancel'}
        title={t.requests.cancelTitle}
        question={t.requests.cancelQuestion}
        label={t.requests.cancel}
        cancelLabel={t.requests.keep}
        onConfirm={() => act.mutateAsync({ action: 'cancel' })}
        onClose={() => setDialog(undefined)}
      />
      <ConfirmDialog
        isOpen={dialog === 'claim'}
        title={t.requests.claimTitle}
        question={
          <>
            <Text size="sm">{t.requests.claimQuestion}</Text>
            {comments(t.requests.comment)}
          </>
        }
        label={t.requests.claim}
        onConfirm={() => act.mutateAsync({ action: 'claim', body: { reason: comment } })}
        onClose={() => setDialog(undefined)}
      />
      {dialog === 'reschedule' && (
        <RescheduleDialog
          applyAt={request.apply_at}
          onReschedule={apply_at => act.mutateAsync({ action: 'reschedule', body: { apply_at } })}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'rebase' && (
        <RebaseDialog
          request={request}
          wording={wording}
          onRebase={resolve => act.mutateAsync({ action: 'rebase', body: { resolve } })}
          onClose={() => setDialog(undefined)}
        />
      )}
    </Stack>
  )
}

/** The server applies it at its time, not before. */
const isTimed = ({ apply_at }: ChangeRequestDetail): boolean => apply_at !== null && Date.parse(apply_at) > Date.now()
