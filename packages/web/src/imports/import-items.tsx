import { type ImportItem, type ImportPlan, routes } from '@halyard/contract'
import { Badge, ColorSwatch, Group, NativeSelect, Progress, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { Pagination } from '../ui/data/pagination.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'

const pageSize = 100
const statuses = ['exact', 'approximate', 'refused'] as const
type Status = (typeof statuses)[number]

const colors: Readonly<Record<Status, string>> = { exact: 'green', approximate: 'yellow', refused: 'red' }

interface Props {
  organizationId: string
  /** Undefined until the project is created. */
  projectId: string | undefined
  planId: number
  /** Index of the target in the plan. */
  target: number
  counts: ImportPlan['targets'][number]
}

/** The flags and segments of a file, with what importing them means. */
export function ImportItems({ organizationId, projectId, planId, target, counts }: Props) {
  const t = useMessages()
  const call = useCall()
  const [status, setStatus] = useState('')
  const [offset, setOffset] = useState(0)
  const items = useQuery({
    queryKey: ['import-items', planId, target, status, offset],
    queryFn: ({ signal }) =>
      call(routes.imports.items, {
        params: { parent_lookup_organization_id: organizationId, import_id: String(planId) },
        query: {
          target: String(target),
          ...(status !== '' && { status }),
          limit: String(pageSize),
          offset: String(offset),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  const total = counts.exact + counts.approximate + counts.refused
  return (
    <Stack>
      <ResultBar counts={counts} />
      <NativeSelect
        label={t.imports.filter}
        maw={280}
        value={status}
        onChange={event => {
          setStatus(event.currentTarget.value)
          setOffset(0)
        }}
        data={[
          { value: '', label: t.imports.all(total) },
          ...statuses.map(name => ({
            value: name,
            label: t.imports.statusCount(t.imports.statuses[name], counts[name]),
          })),
        ]}
      />
      <Loaded query={items}>
        {({ results, count }) =>
          results.length === 0 ? (
            <EmptyState title={t.imports.none} text={t.imports.noneText} />
          ) : (
            <>
              <ItemTable items={results} projectId={projectId} />
              <Pagination count={count} offset={offset} pageSize={pageSize} onChange={setOffset} />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}

/** How much of the file is exact, approximate and refused. */
function ResultBar({ counts }: { counts: ImportPlan['targets'][number] }) {
  const t = useMessages()
  const total = counts.exact + counts.approximate + counts.refused
  if (total === 0) return null
  return (
    <Stack gap={4} component="section" aria-label={t.imports.results}>
      <Progress.Root size="lg" aria-hidden>
        {statuses.map(name => (
          <Progress.Section key={name} value={(counts[name] / total) * 100} color={colors[name]} />
        ))}
      </Progress.Root>
      <Group gap="md">
        {statuses.map(name => (
          <Group key={name} gap={6}>
            <ColorSwatch
              size={10}
              withShadow={false}
              color={`var(--mantine-color-${colors[name]}-filled)`}
              aria-hidden
            />
            <Text size="sm">{t.imports.statusCount(t.imports.statuses[name], counts[name])}</Text>
          </Group>
        ))}
      </Group>
    </Stack>
  )
}

function ItemTable({ items, projectId }: { items: readonly ImportItem[]; projectId: string | undefined }) {
  const t = useMessages()
  const stateOf = ({ outcome, drift, status }: ImportItem): string => {
    if (status === 'refused') return '–'
    return outcome === null ? t.imports.drifts[drift] : t.imports.outcomes[outcome]
  }
  return (
    <DataTable
      label={t.imports.items}
      head={[t.imports.key, t.imports.status, t.imports.state, t.imports.reasons]}
      rows={items.map(item => ({
        key: item.position,
        cells: [
          <span key="key">
            <ItemLink item={item} projectId={projectId} />{' '}
            <Text span size="xs" c="dimmed">
              {item.kind === 'flag' ? t.imports.flag : t.imports.segment}
            </Text>
          </span>,
          <Badge key="status" variant="light" color={colors[item.status as Status]}>
            {t.imports.statuses[item.status as Status]}
          </Badge>,
          stateOf(item),
          <Stack key="reasons" gap={2}>
            {item.reasons.length === 0 && '–'}
            {item.reasons.map(({ message, path }) => (
              <Text key={path + message} size="sm">
                {message}{' '}
                <Text span size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                  {path}
                </Text>
              </Text>
            ))}
          </Stack>,
        ],
      }))}
    />
  )
}

function ItemLink({
  item: { flag, cohort, outcome, source_key: key },
  projectId,
}: {
  item: ImportItem
  projectId: string | undefined
}) {
  if (projectId === undefined || outcome === null || outcome === 'skipped') return key
  if (flag !== null) {
    return (
      <Link to="/project/$projectId/flags/$flagId" params={{ projectId, flagId: String(flag) }}>
        {key}
      </Link>
    )
  }
  if (cohort === null) return key
  return (
    <Link to="/project/$projectId/cohorts/$cohortId" params={{ projectId, cohortId: String(cohort) }}>
      {key}
    </Link>
  )
}
