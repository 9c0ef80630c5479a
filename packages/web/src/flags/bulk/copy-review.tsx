import { type BlastRadius, type Flag, type FlagSummary, type Project, routes } from '@halyard/contract'
import { usesFlags } from '@halyard/engine'
import { Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Call } from '../../api/client.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Pagination } from '../../ui/data/pagination.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { copiedDraft } from '../copies/copied-flag.ts'
import { differencesOf } from '../copies/copy-differences.ts'
import { type FlagInProject, loadFlagIn } from '../copies/flag-in-projects.ts'
import { draftToWire } from '../editor/draft.ts'
import { describeState } from '../flag-summary.ts'
import { ApprovalHint } from '../gate/approval-hint.tsx'
import { useArePoliciesLoading } from '../gate/gate-queries.ts'
import { impactText } from './bulk-review.tsx'

interface Props {
  project: Project
  flags: readonly FlagSummary[]
  targets: readonly Project[]
  /** The copies are turned off. */
  isOff: boolean
  onConfirm: () => void
  onClose: () => void
}

/** Each copy needs several requests. */
const pageSize = 20

/** One flag and one project that it is copied to. */
interface Copy {
  readonly flag: FlagSummary
  readonly target: Project
}

interface ReviewedCopy extends Copy {
  /** Undefined when it could not be loaded. */
  readonly review: Review | undefined
}

interface Review {
  /** As it would arrive. */
  readonly copied: Flag
  readonly existing: FlagInProject
  readonly names: Names
  /** Undefined while the project lacks a cohort of the flag. */
  readonly impact: BlastRadius | undefined
}

interface Names {
  cohortName(id: string): string
  flagKey(id: string): string
}

/** What copying many flags changes in other projects, before it happens. */
export function CopyReview({ project, flags, targets, isOff, onConfirm, onClose }: Props) {
  const t = useMessages()
  const { percent, count } = useFormats()
  const copies = flags.flatMap(flag => targets.map(target => ({ flag, target })))
  const [offset, setOffset] = useState(0)
  const reviewed = useReviewedCopies(project, copies.slice(offset, offset + pageSize), isOff)
  const isLoading = useArePoliciesLoading(targets.map(({ id }) => String(id)))
  const fieldNames: Record<string, string> = t.fields
  const rowOf = ({ flag, target, review }: ReviewedCopy) => {
    if (!review) return [flag.key, target.name, '', '', '']
    const { copied, existing, names, impact } = review
    const here = { t, percent, groupTypes: project.group_types, ...names }
    const there = { t, percent, groupTypes: target.group_types, ...namesOf(existing.cohortNames, existing.flagKeys) }
    const changes = existing.flag
      ? differencesOf({ flag: existing.flag, wording: there }, { flag: copied, wording: here })
      : undefined
    return [
      flag.key,
      target.name,
      existing.flag ? describeState(existing.flag, there).text : t.copies.missing,
      <Stack key="after" gap={2}>
        <span>{describeState(copied, here).text}</span>
        <Text size="xs" c="dimmed">
          {changes === undefined
            ? t.promotion.actions.create
            : changes.map(({ field }) => fieldNames[field] ?? field).join(', ') || t.editor.noChanges}
        </Text>
      </Stack>,
      impact ? impactText(impact, t, { count, percent }) : t.impact.unknown,
    ]
  }
  return (
    <Dialog size="xl" title={t.bulk.copy} isLoading={isLoading} onClose={onClose}>
      <Stack>
        <Loaded query={reviewed}>
          {rows => (
            <DataTable
              label={t.bulk.copy}
              head={[t.flags.columnFlag, t.shell.project, t.bulk.before, t.bulk.after, t.impact.title]}
              rows={rows.map(copy => ({ key: `${copy.flag.id} ${copy.target.id}`, cells: rowOf(copy) }))}
            />
          )}
        </Loaded>
        <Pagination count={copies.length} offset={offset} pageSize={pageSize} onChange={setOffset} />
        {targets.map(({ id }) => (
          <ApprovalHint key={id} projectId={String(id)} />
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button data-autofocus disabled={reviewed.isPending} onClick={onConfirm}>
            {t.bulk.copyNow(flags.length)}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function useReviewedCopies(project: Project, copies: readonly Copy[], isOff: boolean) {
  const call = useCall()
  const ids = copies.map(({ flag, target }) => [flag.id, flag.version, target.id])
  return useQuery({
    queryKey: ['copy-review', project.id, isOff, ids],
    queryFn: (): Promise<readonly ReviewedCopy[]> =>
      Promise.all(
        copies.map(async copy => ({
          ...copy,
          review: await reviewCopy(call, project, copy, isOff).catch(() => undefined),
        })),
      ),
    // The rows stay until the next ones have been loaded, so that nothing moves in between.
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  })
}

async function reviewCopy(call: Call, project: Project, copy: Copy, isOff: boolean): Promise<Review> {
  const params = { project_id: String(project.id) }
  const flag = await call(routes.flags.get, { params: { ...params, id: String(copy.flag.id) } })
  const ids = usesFlags(flag.filters).map(Number)
  const [{ keys }, cohorts] = await Promise.all([
    ids.length === 0 ? { keys: {} } : call(routes.flagBulk.keys, { params, body: { ids } }),
    call(routes.cohorts.list, { params, query: { limit: '1000' } }),
  ])
  const names = namesOf(Object.fromEntries(cohorts.results.map(({ id, name }) => [String(id), name])), keys)
  const target = String(copy.target.id)
  const needs = ids.map(id => names.flagKey(String(id)))
  const existing = await loadFlagIn(call, target, { key: flag.key, needs })
  const copied = { ...flag, active: flag.active && !isOff }
  const origin = { ...names, groupTypes: project.group_types }
  const draft = copiedDraft(copied, origin, existing, copy.target.group_types)
  const impact = draft
    ? await call(routes.flagReach.userBlastRadius, {
        params: { project_id: target },
        ...(existing.flag && { query: { compare_to: String(existing.flag.id) } }),
        body: draftToWire(draft),
      })
    : undefined
  return { copied, existing, names, impact }
}

const namesOf = (cohorts: Readonly<Record<string, string>>, flags: Readonly<Record<string, string>>): Names => ({
  cohortName: id => cohorts[id] ?? `#${id}`,
  flagKey: id => flags[id] ?? `#${id}`,
})
