import { routes } from '@halyard/contract'
import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isProblem } from '../api/problem.ts'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { ConfirmDialog } from '../ui/dialog/confirm-dialog.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { UsedBy } from '../used-by/used-by.tsx'

/** Archives a flag after showing what uses it; one that is in use needs a reason. */
export function ArchiveButton({ projectId, flag }: { projectId: string; flag: { id: number; key: string } }) {
  const t = useMessages()
  const call = useCall()
  const notify = useNotify()
  const queries = useQueryClient()
  const [isAsking, setIsAsking] = useState(false)
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
    <>
      <Button
        variant="subtle"
        size="compact-sm"
        aria-label={`${t.health.archive}: ${flag.key}`}
        onClick={() => setIsAsking(true)}
      >
        {t.health.archive}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t.health.archiveTitle(flag.key)}
          label={isInUse ? t.health.archiveAnyway : t.health.archive}
          question={
            <Stack gap="sm">
              <Text size="sm">{t.health.archiveQuestion}</Text>
              <UsedBy projectId={projectId} of={{ flag: flag.id }} />
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
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  )
}
