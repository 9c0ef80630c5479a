import type { FlagSummary, Project } from '@halyard/contract'
import { Button, Checkbox, Group, Stack, Switch, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useProjects } from '../../services/session-queries.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { SuggestField } from '../../ui/form/suggest-field.tsx'
import type { BulkFailure } from './bulk-change.ts'
import { CopyReview } from './copy-review.tsx'

interface TagProps {
  title: string
  suggestions: readonly string[]
  onClose: () => void
  onTag: (tag: string) => void
}

export function TagDialog({ title, suggestions, onClose, onTag }: TagProps) {
  const t = useMessages()
  const [tag, setTag] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (tag.trim() !== '') onTag(tag.trim())
  }
  return (
    <Dialog onClose={onClose} title={title}>
      <form onSubmit={submit}>
        <Stack>
          <SuggestField
            label={t.flags.bulkTagName}
            data-autofocus
            required
            maxLength={255}
            data={[...suggestions]}
            value={tag}
            onChange={setTag}
          />
          <Group justify="flex-end">
            <Button type="submit">{title}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}

interface CopyProps {
  project: Project
  flags: readonly FlagSummary[]
  onClose: () => void
  onCopy: (targets: readonly number[], isOff: boolean) => void
}

/** Asks where to copy to, then shows what that changes. */
export function CopyDialog({ project, flags, onClose, onCopy }: CopyProps) {
  const t = useMessages()
  const [isReviewing, setIsReviewing] = useState(false)
  const others = (useProjects().data ?? []).filter(
    each => each.organization === project.organization && each.id !== project.id,
  )
  const [targets, setTargets] = useState<string[]>([])
  const [isOff, setIsOff] = useState(true)
  if (isReviewing) {
    return (
      <CopyReview
        project={project}
        flags={flags}
        targets={others.filter(({ id }) => targets.includes(String(id)))}
        isOff={isOff}
        onClose={onClose}
        onConfirm={() => onCopy(targets.map(Number), isOff)}
      />
    )
  }
  return (
    <Dialog onClose={onClose} title={t.bulk.copy}>
      {others.length === 0 ? (
        <Text>{t.copies.noOtherProjects}</Text>
      ) : (
        <Stack>
          <Text size="sm">{t.bulk.copyIntro(flags.length)}</Text>
          <Checkbox.Group label={t.bulk.targets} value={targets} onChange={setTargets}>
            <Stack gap="xs" mt="xs">
              {others.map(({ id, name }) => (
                <Checkbox key={id} value={String(id)} label={name} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Switch label={t.copies.startOff} checked={isOff} onChange={event => setIsOff(event.currentTarget.checked)} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t.common.cancel}
            </Button>
            <Button disabled={targets.length === 0} onClick={() => setIsReviewing(true)}>
              {t.copies.preview}
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  )
}

interface FailuresProps {
  projectId: string
  failures: readonly BulkFailure[]
  onClose: () => void
}

export function FailuresDialog({ projectId, failures, onClose }: FailuresProps) {
  const t = useMessages()
  return (
    <Dialog onClose={onClose} title={t.bulk.failed(failures.length)} size="lg">
      <Stack>
        <Text size="sm">{t.bulk.failedIntro}</Text>
        <DataTable
          label={t.bulk.failed(failures.length)}
          head={[t.flags.columnFlag, t.bulk.reason]}
          rows={failures.map(({ id, key, reason, request }) => ({
            key: id,
            cells: [
              key,
              request === undefined ? (
                reason
              ) : (
                <Link
                  key="request"
                  to="/project/$projectId/requests/$requestId"
                  params={{ projectId, requestId: String(request) }}
                >
                  {t.gate.requested(key)}
                </Link>
              ),
            ],
          }))}
        />
        <Group justify="flex-end">
          <Button data-autofocus onClick={onClose}>
            {t.common.close}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
