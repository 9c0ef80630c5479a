import { Alert } from '@mantine/core'
import { useFreezes } from '../../flags/gate/gate-queries.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { SnowflakeIcon } from '../../ui/icons.tsx'
import classes from './freeze-notice.module.css'

const shownMax = 3

interface Props {
  projectId: string
}

/**
 * The freezes of the project that are in force, with the end in local time. It is beside the page, not above it: a freeze
 * can begin at any time, and must not move what is being clicked.
 */
export function FreezeNotice({ projectId }: Props) {
  const t = useMessages()
  const { moment } = useFormats()
  const active = useActiveFreezes(projectId)
  if (active.length === 0) return null
  return (
    <Alert
      color="blue"
      role="status"
      className={classes.notice}
      classNames={{ message: classes.text as string }}
      p="xs"
    >
      {active.slice(0, shownMax).map(({ id, tag, reason, current_end }) => {
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

/** On a phone, where the notice is in the menu. */
export function FrozenButton({ projectId, onOpen }: Props & { onOpen: () => void }) {
  const t = useMessages()
  if (useActiveFreezes(projectId).length === 0) return null
  return (
    <button type="button" className={classes.chip} onClick={onOpen}>
      <SnowflakeIcon size={14} />
      {t.freezes.frozenNow}
    </button>
  )
}

const useActiveFreezes = (projectId: string) =>
  (useFreezes(projectId).data ?? []).filter(({ current_end }) => current_end !== null)
