import { Button, Group, Loader, Paper, Stack, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { CheckIcon, CrossIcon } from '../../ui/icons.tsx'
import classes from './install-steps.module.css'
import type { Progress } from './use-install-progress.ts'

const order = ['look_up', 'download', 'unpack', 'compile', 'load', 'store'] as const
type Step = (typeof order)[number]

/** The progress of an installation, with a cancel button. */
export function InstallSteps({
  progress,
  what,
}: {
  progress: Pick<Progress, 'steps' | 'isRunning' | 'isStopped' | 'error' | 'stop'>
  what: string
}) {
  const t = useMessages()
  const { steps, isRunning, isStopped, error } = progress
  if (!isRunning && !isStopped && !error) return null
  const reached = steps.at(-1) as Step | undefined
  if (!reached && !isRunning) return null
  // A local folder is neither looked up nor downloaded, and an explicit version is not looked up.
  const shown = order.slice(Math.max(0, order.indexOf((steps[0] ?? 'look_up') as Step)))
  const place = reached ? shown.indexOf(reached) : -1
  return (
    <Paper withBorder p="md" radius="lg" className={classes.box as string}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Text size="sm" fw={600} role="status" style={{ overflowWrap: 'anywhere' }}>
            {isStopped ? t.plugins.stopped : error ? t.plugins.stepFailed : t.plugins.installing(what)}
            {isRunning && reached && ` ${t.plugins.steps[reached]}…`}
          </Text>
          {isRunning && reached !== 'store' && (
            <Button size="compact-sm" variant="default" flex="none" onClick={progress.stop}>
              {t.plugins.stop}
            </Button>
          )}
        </Group>
        <ol className={classes.steps}>
          {shown.map((step, index) => (
            <li key={step} className={classes.step} data-state={stateOf(index, place, isRunning)}>
              <span className={classes.mark}>
                {index < place ? (
                  <CheckIcon size={14} />
                ) : index === place ? (
                  isRunning ? (
                    <Loader size={14} aria-hidden="true" />
                  ) : (
                    <CrossIcon size={14} />
                  )
                ) : null}
              </span>
              {t.plugins.steps[step]}
              <span className={classes.hidden}>{t.plugins.stepStates[stateOf(index, place, isRunning)]}</span>
            </li>
          ))}
        </ol>
      </Stack>
    </Paper>
  )
}

function stateOf(index: number, place: number, isRunning: boolean): 'done' | 'running' | 'failed' | 'waiting' {
  if (index < place) return 'done'
  if (index > place) return 'waiting'
  return isRunning ? 'running' : 'failed'
}
