import { type ChangeRequestDetail, routes } from '@halyard/contract'
import { Alert, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Wording } from '../../flags/flag-sentences.ts'
import { useRevert } from '../../flags/history/use-revert.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCurrentScope } from '../../services/current-scope.ts'
import { canWrite, isAdmin } from '../../services/permissions.ts'
import { useCall } from '../../services/services.ts'
import { useMe, useMembershipLevel } from '../../services/session-queries.ts'
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { RebaseDialog } from './rebase-dialog.tsx'
import { requestKey } from './request-queries.ts'
import { RescheduleDialog } from './reschedule-dialog.tsx'

type Action = 'approve' | 'reject' | 'cancel' | 'apply' | 'rebase' | 'review' | 'claim' | 'reschedule'

const reasonCharactersMax = 2000

type DialogName = 'reject' | 'cancel' | 'rebase' | 'claim' | 'reschedule'

export type RequestActions = ReturnType<typeof useRequestActions>

/** What the user can do about a change request, and the comment that goes with it. */
export function useRequestActions(projectId: string, request: ChangeRequestDetail) {
  const [comment, setComment] = useState('')
  const act = useRequestAction(projectId, request, () => setComment(''))
  const canApprove = request.can_approve && request.user_decision === null
  const commentField = (label: string) => (
    <Textarea
      label={label}
      autosize
      minRows={2}
      maxLength={reasonCharactersMax}
      value={comment}
      onChange={event => setComment(event.currentTarget.value)}
    />
  )
  const clearComment = () => setComment('')
  return { comment, commentField, clearComment, act, canApprove, isDecidable: canApprove && !isConflicted(request) }
}

interface Props {
  request: ChangeRequestDetail
  actions: RequestActions
}

/** The decision, in the corner where every page has its main action. */
export function DecisionBar({ request, wording, actions }: Props & { wording: Wording }) {
  const [dialog, setDialog] = useState<DialogName>()
  const { comment, act, canApprove } = actions
  return (
    <>
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
        comments={actions.commentField}
        onAct={(action, body) => act.mutateAsync({ action, ...(body && { body }) })}
        onClose={() => setDialog(undefined)}
      />
    </>
  )
}

/** Why the user cannot decide, what went wrong, and the review of an emergency. */
export function DecisionHints({ request, actions: { comment, commentField, act, canApprove } }: Props) {
  const t = useMessages()
  const requester = request.created_by.first_name || request.created_by.email
  return (
    <>
      <ProblemAlert error={act.error} />
      {request.emergency_reason !== null && request.review === null && (
        <EmergencyReview
          request={request}
          comments={commentField(t.requests.reviewNote)}
          isCommented={comment.trim() !== ''}
          isBusy={act.isPending}
          onReview={() => act.mutate({ action: 'review', body: { note: comment } })}
        />
      )}
      {request.state === 'pending' && !canApprove && <WhyNotApprove request={request} />}
      {request.can_claim && <Text size="sm">{t.requests.claimHint(requester)}</Text>}
    </>
  )
}

function useRequestAction(projectId: string, { id, resource_id }: ChangeRequestDetail, onDone: () => void) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const { revertTo } = useRevert(projectId, resource_id ?? '')
  const params = { project_id: projectId, request_id: String(id) }
  return useMutation({
    mutationFn: ({ action, body }: { action: Action; body?: object }) =>
      call(routes.changeRequests[action], { params, body: (body ?? {}) as never }),
    onSuccess: async ({ status, change_request }, { action }) => {
      queries.setQueryData(requestKey(projectId, String(id)), change_request)
      onDone()
      const before = status === 'applied' ? versionBefore(change_request) : undefined
      notify.success({
        id: `request-${id}`,
        message:
          action === 'approve' && status === 'pending' ? t.requests.youApproved : (t.requests.done[status] ?? status),
        ...(before !== undefined && { onUndo: () => revertTo(before) }),
      })
      await queries.invalidateQueries({ queryKey: ['change-requests', projectId] })
    },
    // It may have changed since it was shown.
    onError: () => queries.invalidateQueries({ queryKey: requestKey(projectId, String(id)) }),
  })
}

/** The version of the flag that undoing leads back to. A new flag has none. */
const versionBefore = ({ resource_type, applied_version }: ChangeRequestDetail): number | undefined =>
  resource_type === 'feature_flag' && applied_version !== null && applied_version > 1 ? applied_version - 1 : undefined

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

function WhyNotApprove({ request }: Pick<Props, 'request'>) {
  const t = useMessages()
  const me = useMe().data
  const { user_decision, is_requester, uncounted_approvers } = request
  const isUncounted = uncounted_approvers.some(({ uuid }) => uuid === me?.uuid)
  const reason = is_requester ? t.requests.ownRequest : isUncounted ? t.requests.ownUncounted : t.requests.cannotApprove
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
    <>
      {canApprove && !needsRebase && (
        <Button loading={isBusy} onClick={onApprove}>
          {appliesAtOnce(request) ? t.requests.approveAndApply : t.requests.approve}
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
    </>
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
        question={t.requests.rejectQuestion(request.title)}
        detail={comments(t.requests.rejectReason)}
        label={t.requests.reject}
        onConfirm={() => onAct('reject', { reason: comment })}
        onClose={onClose}
      />
      <ConfirmDialog
        isOpen={dialog === 'cancel'}
        question={t.requests.cancelQuestion(request.title)}
        detail={t.requests.cancelDetail}
        label={t.requests.cancel}
        cancelLabel={t.requests.keep}
        onConfirm={() => onAct('cancel')}
        onClose={onClose}
      />
      <ConfirmDialog
        isOpen={dialog === 'claim'}
        question={t.requests.claimQuestion(request.title)}
        detail={
          <>
            <Text size="sm">{t.requests.claimDetail}</Text>
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

/** The user's approval is the last one needed, and nothing else delays the change. */
const appliesAtOnce = (request: ChangeRequestDetail): boolean =>
  request.completes_approval && request.frozen_until === null && !isTimed(request)

const isConflicted = ({ state, conflicts }: ChangeRequestDetail): boolean =>
  state === 'conflicted' || (state === 'pending' && conflicts.length > 0)
