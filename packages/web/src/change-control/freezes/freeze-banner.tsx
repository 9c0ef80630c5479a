import { Alert } from '@mantine/core'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useFreezes } from '../gate/gate-queries.ts'

/** On every page of a project that is frozen now, with the end in local time. */
export function FreezeBanner({ projectId }: { projectId: string }) {
  const t = useMessages()
  const { moment } = useFormats()
  const active = (useFreezes(projectId).data ?? []).filter(({ current_end }) => current_end !== null)
  if (active.length === 0) return null
  return (
    <Alert color="blue" role="status" radius={0} py="xs">
      {active.map(({ id, tag, reason, current_end }) => {
        const until = moment(current_end ?? '')
        return (
          <div key={id}>
            {tag === null ? t.freezes.banner(until, reason) : t.freezes.bannerTag(tag, until, reason)}{' '}
          </div>
        )
      })}
      {t.freezes.stillPossible}
    </Alert>
  )
}
