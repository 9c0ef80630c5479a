import { type Flag, routes } from '@halyard/contract'
import { Alert, Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { UsedBy, useUsedBy } from '../../used-by/used-by.tsx'
import { cacheFlag } from '../flag-cache.ts'
import { useRequestedNotice } from '../gate/use-requested-notice.ts'
import { savedOrRequested } from '../save-flag.ts'

type ArchivedFlag = Pick<Flag, 'id' | 'key'>

/** Archives and unarchives a flag. */
export function useArchiving(projectId: string, flag: ArchivedFlag) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const announceRequest = useRequestedNotice(projectId)
  const params = { project_id: projectId, id: String(flag.id) }
  const finish = async (saving: Promise<Flag>, done: string, undo: () => Promise<void>) => {
    const outcome = await savedOrRequested(saving)
    if (outcome.kind === 'requested') return announceRequest(outcome.request)
    cacheFlag(queries, projectId, outcome.flag)
    queries.invalidateQueries({ queryKey: ['flag-history', projectId, params.id] })
    queries.invalidateQueries({ queryKey: ['flag-health', projectId] })
    notify.success({
      id: `archive-${flag.id}`,
      message: done,
      onUndo: () => undo().catch(error => notify.fail(error, flag.key)),
    })
  }
  const archive = (reason: string | undefined): Promise<void> =>
    finish(
      call(routes.flagEdits.archive, { params, body: reason === undefined ? {} : { force: true, reason } }),
      t.archive.done(flag.key),
      unarchive,
    )
  const unarchive = (): Promise<void> =>
    finish(call(routes.flagEdits.unarchive, { params }), t.archive.back(flag.key), () => archive(undefined))
  return { archive, unarchive }
}

interface Props {
  projectId: string
  flag: ArchivedFlag
  onClose: () => void
}

/** Asks before archiving. A flag in use is archived only with a reason. */
export function ArchiveDialog({ projectId, flag, onClose }: Props) {
  const t = useMessages()
  const { archive } = useArchiving(projectId, flag)
  const used = useUsedBy(projectId, { flag: flag.id })
  const [reason, setReason] = useState('')
  const run = useMutation({ mutationFn: (why: string | undefined) => archive(why), onSuccess: onClose })
  const use = isProblem(run.error) && run.error.code === 'in_use' ? run.error.message : undefined
  const [isForced, setIsForced] = useState(false)
  if (use !== undefined && !isForced) setIsForced(true)
  return (
    <Dialog title={t.archive.title(flag.key)} isLoading={used.isPending} onClose={onClose}>
      <Stack>
        <Text>{t.archive.question}</Text>
        <UsedBy used={used} />
        {use !== undefined && (
          <Alert color="yellow" role="alert" title={t.archive.inUse}>
            {use}
          </Alert>
        )}
        {isForced && (
          <Textarea
            label={t.archive.reason}
            autosize
            minRows={2}
            maxLength={1000}
            value={reason}
            onChange={event => setReason(event.currentTarget.value)}
          />
        )}
        {use === undefined && <ProblemAlert error={run.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button
            color="red"
            data-autofocus
            disabled={isForced && reason.trim() === ''}
            loading={run.isPending}
            onClick={() => run.mutate(isForced ? reason.trim() : undefined)}
          >
            {isForced ? t.archive.anyway : t.archive.archive}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
