import type { HealthCheck } from '@halyard/contract'
import { Badge } from '@mantine/core'
import { useFormats, useMessages } from '../../../i18n/language.tsx'
import { HealthBadges } from '../../page/health-badges.tsx'

interface Props {
  /** When its next scheduled change is due. */
  nextChange: string | undefined
  checks: readonly HealthCheck[]
}

/** In a list only what calls for action, the most urgent first. */
const shown: readonly HealthCheck[] = ['expired', 'stale', 'never_evaluated', 'fully_rolled_out']

/** Badges for a scheduled change and for the health of a flag. */
export function FlagBadges({ nextChange, checks }: Props) {
  const t = useMessages()
  const { moment } = useFormats()
  const [worst] = shown.filter(check => checks.includes(check))
  return (
    <>
      {nextChange !== undefined && (
        <Badge size="sm" radius="sm" variant="light" color="indigo" title={t.flagState.nextChange(moment(nextChange))}>
          {t.flagState.scheduled}
        </Badge>
      )}
      {worst && <HealthBadges size="sm" checks={[worst]} />}
    </>
  )
}
