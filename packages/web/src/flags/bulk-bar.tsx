import { type Flag, type FlagWrite, routes } from '@halyard/contract'
import { Button, Group, Paper, Progress, Stack, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { ConfirmDialog } from '../app/confirm-dialog.tsx'
import { Dialog } from '../app/dialog.tsx'
import { useNotify } from '../app/notify.ts'
import { problemText } from '../app/problems.tsx'
import { useCall } from '../app/services.ts'
import { useMessages } from '../messages/language.tsx'
import classes from './bulk-bar.module.css'
import { forgetLists, rememberFlag } from './use-flags.ts'

const requestsAtOnceMax = 6

/** What can be done with several flags at once. Each is a request of its own, so one that fails does not hold up the others. */
export function BulkBar({
  projectId,
  flags,
  onClear,
}: {
  projectId: string
  flags: readonly Flag[]
  onClear: () => void
}) {
  const t = useMessages()
  const { run, cancel, done, isRunning } = useBulk(projectId, flags, onClear)
  const [asking, setAsking] = useState<'tag' | 'delete'>()
  const areDeleted = flags.every(flag => flag.deleted)
  const finish = (patchOf: (flag: Flag) => FlagWrite) => {
    setAsking(undefined)
    run(patchOf)
  }
  return (
    <Paper className={classes.bar} shadow="md" withBorder p="xs" role="region" aria-label={t.flags.bulk(flags.length)}>
      {isRunning ? (
        <Group wrap="nowrap" px="xs">
          <Progress
            value={(100 * done) / flags.length}
            flex={1}
            miw={120}
            aria-label={t.flags.bulkProgress(done, flags.length)}
          />
          <Text size="sm" role="status">
            {t.flags.bulkProgress(done, flags.length)}
          </Text>
          <Button size="xs" variant="default" onClick={cancel}>
            {t.common.cancel}
          </Button>
        </Group>
      ) : (
        <Group gap="xs" justify="center">
          <Text size="sm" fw={600} px="xs">
            {t.flags.bulk(flags.length)}
          </Text>
          {areDeleted ? (
            <Button size="xs" variant="default" onClick={() => run(() => ({ deleted: false }))}>
              {t.flags.bulkRestore}
            </Button>
          ) : (
            <>
              <Button size="xs" variant="default" onClick={() => run(() => ({ active: true }))}>
                {t.flags.bulkOn}
              </Button>
              <Button size="xs" variant="default" onClick={() => run(() => ({ active: false }))}>
                {t.flags.bulkOff}
              </Button>
              <Button size="xs" variant="default" onClick={() => setAsking('tag')}>
                {t.flags.bulkTag}
              </Button>
              <Button size="xs" variant="light" color="red" onClick={() => setAsking('delete')}>
                {t.flags.bulkDelete}
              </Button>
            </>
          )}
          <Button size="xs" variant="subtle" color="gray" onClick={onClear}>
            {t.flags.bulkClear}
          </Button>
        </Group>
      )}
      {asking === 'tag' && (
        <TagDialog
          onClose={() => setAsking(undefined)}
          onTag={tag => finish(flag => ({ tags: [...new Set([...flag.tags, tag])] }))}
        />
      )}
      <ConfirmDialog
        isOpen={asking === 'delete'}
        title={t.flags.bulkDelete}
        question={t.flags.bulkConfirmDelete(flags.length)}
        onClose={() => setAsking(undefined)}
        onConfirm={() => finish(() => ({ deleted: true }))}
      />
    </Paper>
  )
}

function TagDialog({ onClose, onTag }: { onClose: () => void; onTag: (tag: string) => void }) {
  const t = useMessages()
  const [tag, setTag] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (tag.trim() !== '') onTag(tag.trim())
  }
  return (
    <Dialog onClose={onClose} title={t.flags.bulkTag}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t.flags.bulkTagName}
            data-autofocus
            required
            withAsterisk={false}
            maxLength={255}
            value={tag}
            onChange={event => setTag(event.currentTarget.value)}
          />
          <Button type="submit">{t.flags.bulkTag}</Button>
        </Stack>
      </form>
    </Dialog>
  )
}

function useBulk(projectId: string, flags: readonly Flag[], onDone: () => void) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [done, setDone] = useState<number>()
  const cancelled = useRef(false)

  const run = async (patchOf: (flag: Flag) => FlagWrite) => {
    cancelled.current = false
    setDone(0)
    const waiting = [...flags]
    const failures: unknown[] = []
    let changed = 0
    const work = async () => {
      for (let flag = waiting.shift(); flag && !cancelled.current; flag = waiting.shift()) {
        const params = { project_id: projectId, id: String(flag.id) }
        try {
          rememberFlag(queries, projectId, await call(routes.flags.update, { params, body: patchOf(flag) }))
          changed++
        } catch (error) {
          failures.push(error)
        }
        setDone(changed + failures.length)
      }
    }
    await Promise.all(Array.from({ length: requestsAtOnceMax }, work))
    setDone(undefined)
    if (changed > 0) notify.tell({ message: t.flags.bulkDone(changed) })
    if (failures.length > 0) {
      notify.fail(t.flags.bulkFailed(failures.length, problemText(t, failures[0])))
    }
    onDone()
    await forgetLists(queries, projectId)
  }
  return { run, cancel: () => (cancelled.current = true), done: done ?? 0, isRunning: done !== undefined }
}
