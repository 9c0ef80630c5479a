import { Badge } from '@mantine/core'
import { useFormats, useMessages } from '../../../i18n/language.tsx'
import type { FlagNotices } from '../use-flag-notices.ts'

/** Badges for a scheduled change and for a stale flag. */
export function FlagBadges({ flagId, notices }: { flagId: number; notices: FlagNotices }) {
  const t = useMessages()
  const { moment } = useFormats()
  const next = notices.nextChange.get(flagId)
  return (
    <>
      {next !== undefined && (
        <Badge size="sm" radius="sm" variant="light" color="indigo" title={t.flagState.nextChange(moment(next))}>
          {t.flagState.scheduled}
        </Badge>
      )}
      {notices.stale.has(flagId) && (
        <Badge size="sm" radius="sm" variant="light" color="yellow" title={t.flagState.staleHint}>
          {t.flagState.stale}
        </Badge>
      )}
    </>
  )
}
