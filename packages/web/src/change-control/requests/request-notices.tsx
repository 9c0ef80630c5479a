import type { ChangeRequestDetail } from '@halyard/contract'
import { Alert, Text } from '@mantine/core'
import { useFormats, useMessages } from '../../i18n/language.tsx'

/** Why a request waits, failed or has to be approved again. */
export function RequestNotices({ request }: { request: ChangeRequestDetail }) {
  const t = useMessages()
  const { moment } = useFormats()
  const { state, apply_error, approvals, frozen_until } = request
  const isAgain =
    state === 'pending' && approvals.some(({ is_current, decision }) => !is_current && decision === 'approved')
  return (
    <>
      {frozen_until && (
        <Alert color="blue">
          {(state === 'approved' ? t.requests.frozen : t.requests.frozenPending)(moment(frozen_until))}
        </Alert>
      )}
      {isAgain && (
        <Alert color="yellow" title={t.requests.againTitle}>
          <Text size="sm">{apply_error ?? t.requests.again}</Text>
        </Alert>
      )}
      {apply_error && !isAgain && !(frozen_until && state === 'approved') && (
        <Alert color="yellow">{apply_error}</Alert>
      )}
      {state === 'pending' && isTimePassed(request) && <Alert color="yellow">{t.requests.timePassed}</Alert>}
    </>
  )
}

/** A one-off schedule that should have run already. */
function isTimePassed({ resource_type, intent }: ChangeRequestDetail): boolean {
  const { scheduled_at, is_recurring } = intent as { scheduled_at?: unknown; is_recurring?: unknown }
  return (
    resource_type === 'scheduled_change' &&
    is_recurring !== true &&
    typeof scheduled_at === 'string' &&
    Date.parse(scheduled_at) < Date.now()
  )
}
