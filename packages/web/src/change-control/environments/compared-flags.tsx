import type { EnvironmentSet, FlagAcrossEnvironments } from '@halyard/contract'
import { Badge, Checkbox, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { promotionObstacle } from '../../flags/environments/promotion.ts'
import { describeState } from '../../flags/flag-summary.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useProjects } from '../../services/session-queries.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { DisclosureButton } from '../../ui/layout/disclosure-button.tsx'
import { FlagDifference } from './flag-difference.tsx'

interface Props {
  set: EnvironmentSet
  rows: readonly FlagAcrossEnvironments[]
  direction: { readonly from: number; readonly to: number; readonly canCreate: boolean }
  chosen: readonly string[]
  onToggle: (key: string) => void
}

/** One row per flag: a sentence for each environment, the difference on demand, and why it cannot be promoted. */
export function ComparedFlags({ set, rows, direction, chosen, onToggle }: Props) {
  const t = useMessages()
  const [open, setOpen] = useState<string>()
  const nameOf = (project: number) => set.environments.find(each => each.project === project)?.name ?? ''
  const names = { from: nameOf(direction.from), to: nameOf(direction.to) }
  const reasons = {
    missing: t.environments.missingIn(names.from),
    same: t.environments.nothingToPromote,
    not_editable: t.environments.notEditableIn(names.to),
  }
  return (
    <DataTable
      label={t.environments.flagsOf(set.name)}
      head={[t.environments.flag, ...set.environments.map(({ name }) => name), t.environments.difference]}
      rows={rows.map(row => {
        const obstacle = promotionObstacle(row, direction)
        const isOpen = open === row.key
        return {
          key: row.key,
          cells: [
            obstacle ? (
              <Stack key="key" gap={0}>
                {row.key}
                <Text size="xs" c="dimmed">
                  {reasons[obstacle]}
                </Text>
              </Stack>
            ) : (
              <Checkbox
                key="key"
                label={row.key}
                aria-label={t.environments.selectFlag(row.key)}
                checked={chosen.includes(row.key)}
                onChange={() => onToggle(row.key)}
              />
            ),
            ...set.environments.map(({ project }) => <Cell key={project} row={row} project={project} />),
            <Group key="differs" gap="xs" wrap="nowrap">
              <Badge variant="light" color={row.differs ? 'yellow' : 'green'}>
                {row.differs ? t.environments.different : t.environments.same}
              </Badge>
              {row.differs && (
                <DisclosureButton
                  label={t.environments.showDifference}
                  of={row.key}
                  isOpen={isOpen}
                  onToggle={() => setOpen(isOpen ? undefined : row.key)}
                />
              )}
            </Group>,
          ],
          details: isOpen && <FlagDifference row={row} {...direction} names={names} />,
        }
      })}
    />
  )
}

/** The sentence of the list. */
function Cell({ row, project }: { row: FlagAcrossEnvironments; project: number }) {
  const t = useMessages()
  const { percent } = useFormats()
  const groupTypes = useProjects().data?.find(({ id }) => id === project)?.group_types ?? {}
  const flag = row.environments.find(each => each.project === project)?.flag
  if (!flag) return t.environments.missing
  return (
    <Link to="/project/$projectId/flags/$flagId" params={{ projectId: String(project), flagId: String(flag.id) }}>
      {describeState(flag, { t, percent, groupTypes }).text}
    </Link>
  )
}
