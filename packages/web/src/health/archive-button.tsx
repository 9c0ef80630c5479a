import { Button } from '@mantine/core'
import { useState } from 'react'
import { ArchiveDialog } from '../flags/page/archive-dialog.tsx'
import { useMessages } from '../i18n/language.tsx'

interface Props {
  projectId: string
  flag: { id: number; key: string }
}

/** Archives a flag after showing what uses it. */
export function ArchiveButton(props: Props) {
  const t = useMessages()
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <Button
        variant="subtle"
        size="compact-sm"
        aria-label={`${t.archive.archive}: ${props.flag.key}`}
        onClick={() => setIsAsking(true)}
      >
        {t.archive.archive}
      </Button>
      {isAsking && <ArchiveDialog {...props} onClose={() => setIsAsking(false)} />}
    </>
  )
}
