import { type ChangeRequestDetail, routes } from '@halyard/contract'
import { Alert, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Wording } from '../../flags/flag-sentences.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCurrentScope } from '../../services/current-scope.ts'
import { canWrite, isAdmin } from '../../services/permissions.ts'
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

type DialogName = 'reject' | 'cancel' | 'rebase' | 'claim' | 'reschedule'

/** What the user can do about a change request now. */
export function RequestActions({ projectId, request, wording }: Props) {
  const t = useMessages()
  const [dialog, setDialog] = useState<DialogName>()
  const [comment, setComment] = useState('')
  const act = useRequestAction(projectId, request.id, () => setComment(''))
  const canApprove = request.can_approve && request.user_decision === null
  const requester = request.created_by.first_name || request.created_by.email
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
        <EmergencyReview
          request={request}
          comments={comments(t.requests.reviewNote)}
          isCommented={comment.trim() !== ''}
          isBusy={act.isPending}
          onReview={() => act.mutate({ action: 'review', body: { note: comment } })}
        />
      )}
      {request.state === 'pending' && !canApprove && <WhyNotApprove request={request} />}
      {request.can_claim && <Text size="sm">{t.requests.claimHint(requester)}</Text>}
      {canApprove && !isConflicted(request) && comments(t.requests.comment)}
      {!dialog && <ProblemAlert error={act.error} />}
      <ActionButtons
        request={request}
        canApprove={canApprove}
        isBusy={act.isPending}
        onApprove={() =>
          act.mutate({ action: 'approve', body: { reason: comment, content_hash: request.content_hash } })
        }
        onApply={() => act.mutate({ action: 'apply' })}
        onOpen={setDialog}
      />
      <ActionDialogs
        dialog={dialog}
        request={request}
        wording={wording}
        comment={comment}
        comments={comments}
        onAct={(action, body) => act.mutateAsync({ action, ...(body && { body }) })}
        onClose={() => setDialog(undefined)}
      />
    </Stack>
  )
}

function useRequestAction(projectId: string, requestId: number, onDone: () => void) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { project_id: projectId, request_id: String(requestId) }
  return useMutation({
    mutationFn: ({ action, body }: { action: Action; body?: object }) =>
      call(routes.changeRequests[action], { params, body: (body ?? {}) as never }),
    onSuccess: async ({ status, change_request }, { action }) => {
      queries.setQueryData(requestKey(projectId, String(requestId)), change_request)
      onDone()
      notify.success({
        id: `request-${requestId}`,
        message:
          action === 'approve' && status === 'pending' ? t.requests.youApproved : (t.requests.done[status] ?? status),
      })
      await queries.invalidateQueries({ queryKey: ['change-requests', projectId] })
    },
    // It may have changed since it was shown.
    onError: () => queries.invalidateQueries({ queryKey: requestKey(projectId, String(requestId)) }),
  })
}

interface ReviewProps {
  request: ChangeRequestDetail
  comments: ReactNode
  isCommented: boolean
  isBusy: boolean
  onReview: () => void
}

/** An emergency change was applied without approval; an administrator reviews it afterwards. */
function EmergencyReview({ request, comments, isCommented, isBusy, onReview }: ReviewProps) {
  const t = useMessages()
  const level = useMembershipLevel(useCurrentScope().organizationId)
  return (
    <Alert color="red" title={t.requests.emergency}>
      <Text size="sm">{t.requests.reviewIntro}</Text>
      {isAdmin(level) && !request.is_requester && (
        <Stack gap="xs" mt="xs">
          {comments}
          <Group>
            <Button size="xs" color="red" disabled={!isCommented} loading={isBusy} onClick={onReview}>
              {t.requests.review}
            </Button>
          </Group>
        </Stack>
      )}
    </Alert>
  )
}

function WhyNotApprove({ request: { user_decision, is_requester } }: Pick<Props, 'request'>) {
  const t = useMessages()
  const reason = is_requester ? t.requests.ownRequest : t.requests.cannotApprove
  return (
    <Text size="sm" c="dimmed">
      {user_decision !== null ? t.requests.youApproved : reason}
    </Text>
  )
}

interface ButtonsProps {
  request: ChangeRequestDetail
  canApprove: boolean
  isBusy: boolean
  onApprove: () => void
  onApply: () => void
  onOpen: (dialog: DialogName) => void
}

function ActionButtons({ request, canApprove, isBusy, onApprove, onApply, onOpen }: ButtonsProps) {
  const t = useMessages()
  const level = useMembershipLevel(useCurrentScope().organizationId)
  if (!canWrite(level)) return null
  const { state } = request
  const needsRebase = isConflicted(request)
  const canReschedule = (state === 'pending' || state === 'approved') && request.resource_type !== 'scheduled_change'
  const secondary = (dialog: DialogName, label: string) => (
    <Button variant="default" onClick={() => onOpen(dialog)}>
      {label}
    </Button>
  )
  return (
    <Group gap="xs">
      {canApprove && !needsRebase && (
        <Button loading={isBusy} onClick={onApprove}>
          {t.requests.approve}
        </Button>
      )}
      {canApprove && secondary('reject', t.requests.reject)}
      {needsRebase && <Button onClick={() => onOpen('rebase')}>{t.requests.rebase}</Button>}
      {state === 'approved' && request.frozen_until === null && !isTimed(request) && (
        <Button loading={isBusy} onClick={onApply}>
          {t.requests.apply}
        </Button>
      )}
      {request.can_claim && secondary('claim', t.requests.claim)}
      {canReschedule && secondary('reschedule', t.requests.reschedule)}
      {request.can_cancel && secondary('cancel', t.requests.cancel)}
    </Group>
  )
}

interface DialogsProps {
  dialog: DialogName | undefined
  request: ChangeRequestDetail
  wording: Wording
  comment: string
  comments: (label: string) => ReactNode
  onAct: (action: Action, body?: object) => Promise<unknown>
  onClose: () => void
}

function ActionDialogs({ dialog, request, wording, comment, comments, onAct, onClose }: DialogsProps) {
  const t = useMessages()
  return (
    <>
      <ConfirmDialog
        isOpen={dialog === 'reject'}
        title={t.requests.rejectTitle}
        question={comments(t.requests.rejectReason)}
        label={t.requests.reject}
        onConfirm={() => onAct('reject', { reason: comment })}
        onClose={onClose}
      />
      <ConfirmDialog
        isOpen={dialog === 'cancel'}
        title={t.requests.cancelTitle}
        question={t.requests.cancelQuestion}
        label={t.requests.cancel}
        cancelLabel={t.requests.keep}
        onConfirm={() => onAct('cancel')}
        onClose={onClose}
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
        onConfirm={() => onAct('claim', { reason: comment })}
        onClose={onClose}
      />
      {dialog === 'reschedule' && (
        <RescheduleDialog
          applyAt={request.apply_at}
          onReschedule={apply_at => onAct('reschedule', { apply_at })}
          onClose={onClose}
        />
      )}
      {dialog === 'rebase' && (
        <RebaseDialog
          request={request}
          wording={wording}
          onRebase={resolve => onAct('rebase', { resolve })}
          onClose={onClose}
        />
      )}
    </>
  )
}

/** The server applies it at its time, not before. */
const isTimed = ({ apply_at }: ChangeRequestDetail): boolean => apply_at !== null && Date.parse(apply_at) > Date.now()

const isConflicted = ({ state, conflicts }: ChangeRequestDetail): boolean =>
  state === 'conflicted' || (state === 'pending' && conflicts.length > 0)
