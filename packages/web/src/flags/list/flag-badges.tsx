import { Badge, Tooltip } from '@mantine/core'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import type { FlagNotices } from './use-flag-notices.ts'

/** Badges for a scheduled change and for a stale flag. */
export function FlagBadges({ flagId, notices }: { flagId: number; notices: FlagNotices }) {
  const t = useMessages()
  const { moment } = useFormats()
  const next = notices.nextChange.get(flagId)
  return (
    <>
      {next !== undefined && (
        <Tooltip label={t.flagState.nextChange(moment(next))}>
          <Badge size="sm" radius="sm" variant="light" color="indigo">
            {t.flagState.scheduled}
          </Badge>
        </Tooltip>
      )}
      {notices.stale.has(flagId) && (
        <Tooltip label={t.flagState.staleHint}>
          <Badge size="sm" radius="sm" variant="light" color="yellow">
            {t.flagState.stale}
          </Badge>
        </Tooltip>
      )}
    </>
  )
}
