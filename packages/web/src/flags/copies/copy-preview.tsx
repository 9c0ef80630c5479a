import type { Flag, Project } from '@halyard/contract'
import { Box, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import type { Draft } from '../editor/draft.ts'
import { Impact } from '../editor/impact.tsx'
import type { Wording } from '../flag-sentences.ts'
import { ApprovalHint } from '../gate/approval-hint.tsx'
import { useArePoliciesLoading } from '../gate/gate-queries.ts'
import { ChangeList, type FieldChange } from '../history/change-list.tsx'

/** The flag in another project, and what copying would change there. */
export interface Target {
  readonly project: Project
  readonly flag: Flag | undefined
  readonly wording: Wording
  /** The current differences. */
  readonly differences: readonly FieldChange[]
  /** What copying would change: the copy may start turned off. */
  readonly changes: readonly FieldChange[]
  /** The flag after copying, where it is known. */
  readonly after: Draft | undefined
}

interface Props {
  targets: readonly Target[]
  wording: Wording
  onCopy: () => Promise<unknown>
  onClose: () => void
}

/** A diff and the impact per target project, shown before anything is copied. */
export function CopyPreview({ targets, wording, onCopy, onClose }: Props) {
  const t = useMessages()
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const isLoading = useArePoliciesLoading(targets.map(({ project }) => String(project.id)))
  const copy = async () => {
    setIsBusy(true)
    setError(null)
    try {
      await onCopy()
      onClose()
    } catch (problem) {
      setError(problem)
      setIsBusy(false)
    }
  }
  return (
    <Dialog title={t.editor.reviewTitle} size="lg" isLoading={isLoading} onClose={onClose}>
      <Stack>
        {targets.map(target => (
          <section key={target.project.id} aria-label={target.project.name}>
            <Title order={3}>{target.project.name}</Title>
            <Text size="sm" c="dimmed" mb="xs">
              {target.flag === undefined
                ? t.copies.willCreate
                : target.changes.length === 0
                  ? t.copies.same
                  : t.copies.willChange}
            </Text>
            <ApprovalHint projectId={String(target.project.id)} />
            <ChangeList changes={target.changes} wording={wording} wordingBefore={target.wording} />
            {target.changes.length > 0 && <TargetImpact target={target} />}
          </section>
        ))}
        <ProblemAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button data-autofocus loading={isBusy} onClick={copy}>
            {t.copies.copy(targets.length)}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function TargetImpact({ target: { project, flag, after } }: { target: Target }) {
  const t = useMessages()
  return (
    <Box mt="sm">
      {after ? (
        <Impact projectId={String(project.id)} flagId={flag?.id} draft={after} isSound />
      ) : (
        <Text size="sm" c="dimmed">
          {t.copies.impactUnknown}
        </Text>
      )}
    </Box>
  )
}
