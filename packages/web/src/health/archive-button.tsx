import { routes } from '@halyard/contract'
import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isProblem } from '../api/problem.ts'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { ConfirmDialog } from '../ui/dialog/confirm-dialog.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { UsedBy, useUsedBy } from '../used-by/used-by.tsx'

interface Props {
  projectId: string
  flag: { id: number; key: string }
}

/** Archives a flag after showing what uses it; one that is in use needs a reason. */
export function ArchiveButton(props: Props) {
  const t = useMessages()
  const [isAsking, setIsAsking] = useState(false)
  return (
    <>
      <Button
        variant="subtle"
        size="compact-sm"
        aria-label={`${t.health.archive}: ${props.flag.key}`}
        onClick={() => setIsAsking(true)}
      >
        {t.health.archive}
      </Button>
      {isAsking && <ArchiveDialog {...props} onClose={() => setIsAsking(false)} />}
    </>
  )
}

function ArchiveDialog({ projectId, flag, onClose }: Props & { onClose: () => void }) {
  const t = useMessages()
  const call = useCall()
  const notify = useNotify()
  const queries = useQueryClient()
  const used = useUsedBy(projectId, { flag: flag.id })
  const [isInUse, setIsInUse] = useState(false)
  const [reason, setReason] = useState('')
  const params = { project_id: projectId, id: String(flag.id) }
  const refresh = () => {
    queries.invalidateQueries({ queryKey: ['flag-health', projectId] })
    queries.invalidateQueries({ queryKey: ['flags', projectId] })
    queries.invalidateQueries({ queryKey: ['flag', projectId, params.id] })
  }
  const archive = async () => {
    try {
      await call(routes.flagIntents.archive, { params, body: isInUse ? { force: true, reason } : {} })
    } catch (error) {
      if (isProblem(error) && error.code === 'in_use') setIsInUse(true)
      throw error
    }
    refresh()
    notify.success({
      message: t.health.archived(flag.key),
      onUndo: async () => {
        await call(routes.flagIntents.unarchive, { params })
        refresh()
      },
    })
  }
  return (
    <ConfirmDialog
      title={t.health.archiveTitle(flag.key)}
      label={isInUse ? t.health.archiveAnyway : t.health.archive}
      isLoading={used.isPending}
      question={
        <Stack gap="sm">
          <Text size="sm">{t.health.archiveQuestion}</Text>
          <UsedBy used={used} />
          {isInUse && (
            <TextInput
              label={t.health.reason}
              value={reason}
              maxLength={1000}
              onChange={event => setReason(event.currentTarget.value)}
            />
          )}
        </Stack>
      }
      onConfirm={archive}
      onClose={onClose}
    />
  )
}
