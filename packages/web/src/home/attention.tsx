import type { ProjectHome } from '@halyard/contract'
import { Badge, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMessages } from '../i18n/language.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'
import { Section } from '../ui/layout/section.tsx'
import classes from './home.module.css'
import { More } from './waiting.tsx'

/** Flags that were rolled back, and how many are stale. */
export function Attention({ projectId, home }: { projectId: string; home: ProjectHome }) {
  const t = useMessages()
  const { rolled_back: rolledBack, flags } = home
  return (
    <Section
      title={t.home.attention}
      action={
        <Link to="/project/$projectId/health" params={{ projectId }} className={classes.all as string}>
          {t.shell.health}
        </Link>
      }
    >
      <ul className={classes.items}>
        {rolledBack.results.map(({ id, key, updated_at }) => (
          <li key={id} className={classes.row}>
            <span className={classes.grow}>
              <Link to="/project/$projectId/flags/$flagId" params={{ projectId, flagId: String(id) }}>
                {key}
              </Link>
            </span>
            <Badge variant="light" color="red" radius="sm">
              {t.fields.performed_rollback}
            </Badge>
            <Text span size="xs" c="dimmed">
              <RelativeTime instant={updated_at} />
            </Text>
          </li>
        ))}
      </ul>
      <More count={rolledBack.count - rolledBack.results.length} />
      <Text size="sm" mt={rolledBack.count > 0 ? 'xs' : 0} {...(flags.stale === 0 && { c: 'dimmed' })}>
        {flags.stale > 0 ? t.home.stale(flags.stale) : rolledBack.count === 0 ? t.home.noAttention : t.home.noneStale}
      </Text>
    </Section>
  )
}
