import type { FlagSummary, Project } from '@halyard/contract'
import { Button, Group, Paper, Text } from '@mantine/core'
import { Suspense, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { WorkProgress } from '../../ui/feedback/work-progress.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import classes from './bulk-bar.module.css'
import type { ReviewedChange } from './bulk-review.tsx'
import { useBulk } from './use-bulk.ts'

// Loaded on demand: the first view of the list does not need them.
const dialogs = () => import('./bulk-dialogs.tsx')
const TagDialog = lazyComponent(async () => (await dialogs()).TagDialog)
const CopyDialog = lazyComponent(async () => (await dialogs()).CopyDialog)
const BulkReview = lazyComponent(async () => (await import('./bulk-review.tsx')).BulkReview)
const FailuresDialog = lazyComponent(async () => (await dialogs()).FailuresDialog)

interface Props {
  project: Project
  /** The selected ones. Those that the user cannot edit stay as they are. */
  flags: readonly FlagSummary[]
  onSelect: (ids: readonly number[]) => void
}

type BulkDialog = ReviewedChange | 'tag' | 'untag' | 'copy'

/** Bulk actions for the selected flags. Flags that failed stay selected. */
export function BulkBar({ project, flags: selected, onSelect }: Props) {
  const t = useMessages()
  const flags = selected.filter(flag => flag.can_edit)
  const readOnlyCount = selected.length - flags.length
  const bulk = useBulk(String(project.id), onSelect)
  const [dialog, setDialog] = useState<BulkDialog>()
  const close = () => setDialog(undefined)
  const dialogButton = (what: BulkDialog, label: string) => (
    <Button size="xs" variant="default" onClick={() => setDialog(what)}>
      {label}
    </Button>
  )
  return (
    <>
      {selected.length > 0 && (
        <Paper
          className={classes.bar}
          data-bottom-bar
          shadow="md"
          withBorder
          p="xs"
          role="region"
          aria-label={t.flags.bulk(selected.length)}
        >
          {bulk.progress ? (
            <WorkProgress {...bulk.progress} onCancel={bulk.cancel} />
          ) : (
            <Group gap="xs" justify="center">
              <Text size="sm" fw={600} px="xs">
                {t.flags.bulk(selected.length)}
              </Text>
              {readOnlyCount > 0 && (
                <Text size="sm" px="xs">
                  {flags.length === 0 ? t.bulk.readOnly : t.bulk.someReadOnly(readOnlyCount)}
                </Text>
              )}
              {flags.length === 0 ? null : flags.every(flag => flag.deleted) ? (
                dialogButton('restore', t.flags.bulkRestore)
              ) : (
                <>
                  {dialogButton('on', t.flags.bulkOn)}
                  {dialogButton('off', t.flags.bulkOff)}
                  {dialogButton('tag', t.flags.bulkTag)}
                  {dialogButton('untag', t.bulk.untag)}
                  {dialogButton('copy', t.bulk.copy)}
                  <Button size="xs" variant="light" color="red" onClick={() => setDialog('delete')}>
                    {t.flags.bulkDelete}
                  </Button>
                </>
              )}
              <Button size="xs" variant="subtle" color="gray" onClick={() => onSelect([])}>
                {t.flags.bulkClear}
              </Button>
            </Group>
          )}
        </Paper>
      )}
      <Suspense fallback={null}>
        {dialog && <ChosenDialog dialog={dialog} project={project} flags={flags} bulk={bulk} onClose={close} />}
        {bulk.failures.length > 0 && (
          <FailuresDialog projectId={String(project.id)} failures={bulk.failures} onClose={bulk.dismissFailures} />
        )}
      </Suspense>
    </>
  )
}

interface ChosenProps {
  dialog: BulkDialog
  project: Project
  flags: readonly FlagSummary[]
  bulk: ReturnType<typeof useBulk>
  onClose: () => void
}

/** What the chosen action asks before it is carried out. */
function ChosenDialog({ dialog, project, flags, bulk, onClose }: ChosenProps) {
  const t = useMessages()
  if (dialog === 'tag' || dialog === 'untag') {
    return (
      <TagDialog
        title={dialog === 'tag' ? t.flags.bulkTag : t.bulk.untag}
        suggestions={[...new Set(flags.flatMap(flag => flag.tags))].filter(name => typeof name === 'string')}
        onClose={onClose}
        onTag={name => {
          onClose()
          bulk.change(flags, { tags: [name], tags_action: dialog === 'untag' ? 'remove' : 'add' })
        }}
      />
    )
  }
  if (dialog === 'copy') {
    return (
      <CopyDialog
        project={project}
        flags={flags}
        onClose={onClose}
        onCopy={(targets, isOff) => {
          onClose()
          bulk.copy(flags, project.organization, targets, isOff)
        }}
      />
    )
  }
  return (
    <BulkReview
      project={project}
      flags={flags}
      change={dialog}
      onClose={onClose}
      onConfirm={() => {
        onClose()
        if (dialog === 'restore') bulk.restore(flags)
        else if (dialog === 'delete') bulk.change(flags, { deleted: true })
        else bulk.change(flags, { active: dialog === 'on' })
      }}
    />
  )
}
