import { Alert, Button, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import classes from './load-failed.module.css'

/** Several parts can be missing at once; one message is enough. */
let isShown = false

/** In the place of a part of the page whose code could not be loaded: offers to load the page again, once the server responds. */
export function LoadFailed({ onClose }: { onClose?: () => void }) {
  const t = useMessages()
  const [isFirst, setIsFirst] = useState(false)
  const [isUnreachable, setIsUnreachable] = useState(false)
  useEffect(() => {
    if (isShown) return
    isShown = true
    setIsFirst(true)
    return () => {
      isShown = false
    }
  }, [])
  if (!isFirst) return null
  const reload = async () => {
    const isServing = await fetch('/', { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isServing) window.location.reload()
    else setIsUnreachable(true)
  }
  return (
    <Alert
      className={classes.notice}
      color="yellow"
      role="alert"
      withCloseButton={onClose !== undefined}
      closeButtonLabel={t.common.close}
      {...(onClose && { onClose })}
    >
      <Stack gap="xs" align="flex-start">
        {t.common.loadFailed}
        {isUnreachable && <Text size="sm">{t.common.unreachable}</Text>}
        <Button variant="default" size="xs" onClick={reload}>
          {t.common.reload}
        </Button>
      </Stack>
    </Alert>
  )
}
