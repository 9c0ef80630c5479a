import { type BlastRadius, type FlagSummary, type Project, routes, type UsedBy } from '@halyard/contract'
import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Messages } from '../../i18n/en.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Pagination } from '../../ui/data/pagination.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { problemText } from '../../ui/feedback/problem-text.ts'
import { loadUsedBy, useUseLines } from '../../used-by/used-by.tsx'
import { draftOf, draftToWire } from '../editor/draft.ts'
import { describeState } from '../flag-summary.ts'
import { ApprovalHint } from '../gate/approval-hint.tsx'
import { useArePoliciesLoading } from '../gate/gate-queries.ts'

export type ReviewedChange = 'on' | 'off' | 'restore' | 'delete'

interface Props {
  project: Project
  flags: readonly FlagSummary[]
  change: ReviewedChange
  onConfirm: () => void
  onClose: () => void
}

/** Each impact is two requests. */
const pageSize = 10
/** Two lines, so that the rows keep their height when it arrives. */
const impactHeight = '3rem'

/** What turning many flags on or off, deleting or restoring them changes, before it happens. */
export function BulkReview({ project, flags, change, onConfirm, onClose }: Props) {
  const t = useMessages()
  const { percent, count } = useFormats()
  const isDeletion = change === 'delete'
  const changing = flags.filter(flag => isDeletion || change === 'restore' || flag.active !== (change === 'on'))
  const [offset, setOffset] = useState(0)
  const page = changing.slice(offset, offset + pageSize)
  const used = useUses(project, page, isDeletion ? changing : undefined)
  const listed = used.data?.flags ?? page
  const impacts = useImpacts(project, listed, change)
  const arePoliciesLoading = useArePoliciesLoading(change === 'off' ? [] : [String(project.id)])
  const wording = { t, percent, groupTypes: project.group_types }
  const titles = { on: t.bulk.turnOn, off: t.bulk.turnOff, restore: t.bulk.restore, delete: t.bulk.delete }
  const labels = {
    on: t.flags.bulkOn,
    off: t.flags.bulkOff,
    restore: t.flags.bulkRestore,
    delete: t.flags.bulkDelete,
  }
  const title = titles[change](changing.length)
  return (
    <Dialog size="xl" title={title} isLoading={arePoliciesLoading || used.isLoading} onClose={onClose}>
      <Stack>
        {isDeletion && <Text>{t.bulk.deletion}</Text>}
        {changing.length === 0 ? (
          <Text>{t.editor.noChanges}</Text>
        ) : (
          <DataTable
            label={title}
            head={[
              t.flags.columnFlag,
              t.bulk.before,
              ...(isDeletion ? [] : [t.bulk.after]),
              t.impact.title,
              ...(isDeletion ? [t.usedBy.column] : []),
            ]}
            rows={listed.map((flag, index) => ({
              key: flag.id,
              cells: [
                flag.key,
                describeState(flag, wording).text,
                ...(isDeletion ? [] : [describeState(changed(flag, change), wording).text]),
                <Box key="impact" mih={impactHeight} style={{ display: 'flex', alignItems: 'center' }}>
                  {impactText(impacts[index], t, { count, percent })}
                </Box>,
                ...(isDeletion ? [used.data?.uses[index]] : []),
              ],
            }))}
          />
        )}
        <Pagination count={changing.length} offset={offset} pageSize={pageSize} onChange={setOffset} />
        {change !== 'off' && <ApprovalHint projectId={String(project.id)} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button
            data-autofocus
            disabled={changing.length === 0}
            onClick={onConfirm}
            {...((isDeletion || change === 'off') && { color: 'red' })}
          >
            {labels[change]}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

const changed = <T extends Pick<FlagSummary, 'active' | 'deleted'>>(flag: T, change: ReviewedChange): T =>
  change === 'restore' ? { ...flag, deleted: false } : { ...flag, active: change === 'on' }

type Formats = Pick<ReturnType<typeof useFormats>, 'count' | 'percent'>

/** Who gains and who loses; without a flag to compare with, for how many it would be on. */
export function impactText(impact: BlastRadius | undefined, t: Messages, { count, percent }: Formats): string {
  if (!impact) return ''
  const { comparison, would_be_on: on, total_users: total } = impact
  if (!comparison) {
    if (!on) return t.bulk.noOne
    return t.impact.on(count(on), count(total), percent((100 * on) / total))
  }
  const { gains, losses } = comparison
  const parts = [gains > 0 ? t.impact.gain(count(gains)) : '', losses > 0 ? t.impact.lose(count(losses)) : '']
  return parts.filter(part => part !== '').join(', ') || t.bulk.noOne
}

/** The flags of a page with what uses them, if they are to be deleted. The last page stays until the next one has been loaded. */
function useUses(project: Project, page: readonly FlagSummary[], deletedTogether: readonly FlagSummary[] | undefined) {
  const t = useMessages()
  const call = useCall()
  const linesOf = useUseLines()
  const deletedIds = new Set(deletedTogether?.map(({ id }) => id))
  const textOf = (used: UsedBy): string =>
    linesOf({ ...used, flags: used.flags.filter(({ id }) => !deletedIds.has(id)) }).join(' · ') || t.usedBy.nothing
  return useQuery({
    queryKey: ['used-by', String(project.id), 'flags', page.map(({ id }) => id)],
    queryFn: async ({ signal }) => {
      const load = ({ id }: FlagSummary) => loadUsedBy(call, String(project.id), { flag: id }, signal)
      const uses = await Promise.all(page.map(flag => load(flag).then(textOf, error => problemText(t, error))))
      return { flags: page, uses }
    },
    enabled: deletedTogether !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  })
}

function useImpacts(project: Project, flags: readonly FlagSummary[], change: ReviewedChange) {
  const call = useCall()
  const results = useQueries({
    queries: flags.map(flag => ({
      queryKey: ['blast-radius', String(project.id), flag.id, 'bulk', flag.version, change],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const params = { project_id: String(project.id) }
        const id = String(flag.id)
        const whole = await call(routes.flags.get, { params: { ...params, id }, signal })
        return call(routes.flagReach.userBlastRadius, {
          params,
          // A deleted flag is evaluated for no one.
          ...(change !== 'restore' && { query: { compare_to: id } }),
          // A deletion is measured as turning the flag off: both evaluate to off.
          body: draftToWire(draftOf(changed(whole, change))),
          signal,
        })
      },
      retry: false,
      staleTime: 10_000,
    })),
  })
  return results.map(({ data }) => data)
}
