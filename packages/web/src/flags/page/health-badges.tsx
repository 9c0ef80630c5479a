import type { HealthCheck } from '@halyard/contract'
import { Badge, Group } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'

const colors: Readonly<Record<HealthCheck, string>> = {
  stale: 'yellow',
  never_evaluated: 'yellow',
  constant: 'indigo',
  fully_rolled_out: 'indigo',
  no_owner: 'gray',
  expired: 'red',
}

/** In the order in which they are listed. */
export const healthChecks = Object.keys(colors) as HealthCheck[]

/** The checks that a flag does not pass. */
export function HealthBadges({ checks, size = 'md' }: { checks: readonly HealthCheck[]; size?: 'sm' | 'md' }) {
  const t = useMessages()
  return (
    <Group gap={4} component="span">
      {checks.map(check => (
        <Badge key={check} size={size} variant="light" color={colors[check]} radius="sm" title={t.health.hints[check]}>
          {t.health.checks[check]}
        </Badge>
      ))}
    </Group>
  )
}
