import type { ProjectHome } from '@halyard/contract'
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Sparkline } from '../flags/list/table/sparkline.tsx'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { Section } from '../ui/layout/section.tsx'
import classes from './home.module.css'

interface Props {
  projectId: string
  flags: ProjectHome['most_evaluated']
}

/** The busiest flags with their evaluations of the last days. */
export function MostEvaluated({ projectId, flags }: Props) {
  const t = useMessages()
  const { count } = useFormats()
  return (
    <Section title={t.home.mostEvaluated}>
      {flags.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t.home.noEvaluations}
        </Text>
      ) : (
        <ul className={classes.items}>
          {flags.map(({ id, key, calls }) => {
            const total = calls.reduce((sum, each) => sum + each, 0)
            return (
              <li key={id} className={classes.row}>
                <span className={classes.grow}>
                  <Link
                    to="/project/$projectId/flags/$flagId"
                    params={{ projectId, flagId: String(id) }}
                    search={{ tab: 'usage' }}
                  >
                    {key}
                  </Link>
                </span>
                <Sparkline values={calls} label={t.flags.callsLately(count(total), calls.length)} />
                <span className={classes.number} aria-hidden="true">
                  {count(total)}
                </span>
              </li>
            )
          })}
        </ul>
      )}
    </Section>
  )
}
