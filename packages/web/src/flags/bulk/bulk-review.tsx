import { type BlastRadius, type FlagSummary, type Project, routes } from '@halyard/contract'
import { Box, Button, Group, Stack, Text } from '@mantine/core'
import { useQueries } from '@tanstack/react-query'
import { ApprovalHint } from '../../change-control/gate/approval-hint.tsx'
import { useArePoliciesLoading } from '../../change-control/gate/gate-queries.ts'
import type { Messages } from '../../i18n/en.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { problemText } from '../../ui/feedback/problem-text.ts'
import { useFlagsUsedBy, useUseLines } from '../../used-by/used-by.tsx'
import { draftOf, draftToWire } from '../editor/draft.ts'
import { describeState } from '../flag-summary.ts'

export type ReviewedChange = 'on' | 'off' | 'restore' | 'delete'

interface Props {
  project: Project
  flags: readonly FlagSummary[]
  change: ReviewedChange
  onConfirm: () => void
  onClose: () => void
}

/** Each impact is a request, so only the first flags get one. */
const impactsMax = 10
const listedMax = 50
/** Two lines, so that the rows keep their height when it arrives. */
const impactHeight = '3rem'

/** What turning many flags on or off, deleting or restoring them changes, before it happens. */
export function BulkReview({ project, flags, change, onConfirm, onClose }: Props) {
  const t = useMessages()
  const { percent, count } = useFormats()
  const changing = flags.filter(
    flag => change === 'restore' || change === 'delete' || flag.active !== (change === 'on'),
  )
  const impacts = useImpacts(project, changing.slice(0, impactsMax), change)
  const arePoliciesLoading = useArePoliciesLoading(change === 'off' ? [] : [String(project.id)])
  const used = useUses(project, change === 'delete' ? changing : [])
  const isDeletion = change === 'delete'
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
            rows={changing.slice(0, listedMax).map((flag, index) => ({
              key: flag.id,
              cells: [
                flag.key,
                describeState(flag, wording).text,
                ...(isDeletion ? [] : [describeState(changed(flag, change), wording).text]),
                <Box
                  key="impact"
                  mih={index < impactsMax ? impactHeight : undefined}
                  style={{ display: 'flex', alignItems: 'center' }}
                >
                  {impactText(impacts[index], t, { count, percent })}
                </Box>,
                ...(isDeletion ? [used.textOf(index)] : []),
              ],
            }))}
          />
        )}
        {changing.length > listedMax && <Text size="sm">{t.bulk.more(changing.length - listedMax)}</Text>}
        {change !== 'off' && <ApprovalHint projectId={String(project.id)} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button
            data-autofocus
            disabled={changing.length === 0}
            onClick={onConfirm}
            {...(isDeletion && { color: 'red' })}
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

/** What uses the listed flags. Flags that are deleted with them do not count. */
function useUses(project: Project, flags: readonly FlagSummary[]) {
  const t = useMessages()
  const linesOf = useUseLines()
  const listed = flags.slice(0, listedMax)
  const deleted = new Set(flags.map(({ id }) => id))
  const results = useFlagsUsedBy(
    String(project.id),
    listed.map(({ id }) => id),
  )
  const textOf = (index: number): string => {
    const { data, error } = results[index] ?? {}
    if (!data) return error ? problemText(t, error) : ''
    const lines = linesOf({ ...data, flags: data.flags.filter(({ id }) => !deleted.has(id)) })
    return lines.join(' · ') || t.usedBy.nothing
  }
  return { isLoading: results.some(({ isPending }) => isPending), textOf }
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
