import { type EnvironmentSet, type FlagAcrossEnvironments, routes } from '@halyard/contract'
import { Badge, Button, Checkbox, Group, NativeSelect, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useEnvironmentSets } from '../../flags/environments/environment-queries.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Pagination } from '../../ui/data/pagination.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { NotFound } from '../../ui/feedback/not-found.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { SearchIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'

const PromoteDialog = lazyComponent(
  async () => (await import('../../flags/environments/promote-dialog.tsx')).PromoteDialog,
)

/** One row per flag, one column per environment. */
export function ComparePage() {
  const { organizationId, setId } = useParams({ from: '/shell/organization/$organizationId/environments/$setId' })
  const sets = useEnvironmentSets(organizationId)
  return (
    <Loaded query={sets}>
      {environmentSets => {
        const set = environmentSets.find(({ id }) => String(id) === setId)
        return set ? <Compare key={set.id} organizationId={organizationId} set={set} /> : <NotFound />
      }}
    </Loaded>
  )
}

const pageSize = 100
const waitMilliseconds = 300

interface AcrossQuery {
  readonly isDiffering: boolean
  readonly search: string
  readonly offset: number
}

function useFlagsAcross(organizationId: string, setId: number, { isDiffering, search, offset }: AcrossQuery) {
  const call = useCall()
  return useQuery({
    queryKey: ['environment-flags', setId, 'list', isDiffering, search, offset],
    queryFn: ({ signal }) =>
      call(routes.environments.flags, {
        params: { parent_lookup_organization_id: organizationId, set_id: String(setId) },
        query: { ...(isDiffering && { differs: '1' }), search, limit: String(pageSize), offset: String(offset) },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
}

function Compare({ organizationId, set }: { organizationId: string; set: EnvironmentSet }) {
  const t = useMessages()
  const [isDiffering, setIsDiffering] = useState(true)
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text, waitMilliseconds)
  const [offset, setOffset] = useState(0)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [from, setFrom] = useState(set.environments[0]?.project ?? 0)
  const [isPromoting, setIsPromoting] = useState(false)
  const flags = useFlagsAcross(organizationId, set.id, { isDiffering, search, offset })
  const toggle = (key: string) =>
    setChosen(old => (old.includes(key) ? old.filter(each => each !== key) : [...old, key]))
  return (
    <Page
      wide
      title={t.environments.flagsOf(set.name)}
      parents={[{ label: t.environments.title, to: `/organization/${organizationId}/environments` }]}
    >
      <Stack>
        <Group align="flex-end">
          <TextInput
            aria-label={t.environments.search}
            placeholder={t.environments.search}
            w={{ base: '100%', xs: 'auto' }}
            leftSection={<SearchIcon size={16} />}
            value={text}
            onChange={event => {
              setText(event.currentTarget.value)
              setOffset(0)
            }}
          />
          <Switch
            label={t.environments.differs}
            checked={isDiffering}
            onChange={event => {
              setIsDiffering(event.currentTarget.checked)
              setOffset(0)
            }}
            pb={8}
          />
          <NativeSelect
            label={t.promotion.from}
            value={String(from)}
            onChange={event => setFrom(Number(event.currentTarget.value))}
            data={set.environments.map(({ project, name }) => ({ value: String(project), label: name }))}
          />
          <Button disabled={chosen.length === 0} onClick={() => setIsPromoting(true)}>
            {chosen.length === 0 ? t.environments.promote : t.environments.promoteSelected(chosen.length)}
          </Button>
        </Group>
        <Loaded query={flags}>
          {({ results, count }) =>
            results.length === 0 ? (
              <EmptyState
                title={isDiffering && search === '' ? t.environments.allSame : t.environments.noFlags}
                text={t.environments.noFlagsText}
              />
            ) : (
              <>
                {!results.some(canPromote) && <Text size="sm">{t.bulk.readOnly}</Text>}
                <FlagTable set={set} rows={results} chosen={chosen} onToggle={toggle} />
                <Pagination count={count} offset={offset} pageSize={pageSize} onChange={setOffset} />
              </>
            )
          }
        </Loaded>
      </Stack>
      <Suspense fallback={null}>
        {isPromoting && (
          <PromoteDialog
            organizationId={organizationId}
            set={set}
            keys={chosen}
            from={from}
            onClose={() => {
              setIsPromoting(false)
              setChosen([])
            }}
          />
        )}
      </Suspense>
    </Page>
  )
}

const canPromote = ({ environments }: FlagAcrossEnvironments): boolean => environments.some(({ can_edit }) => can_edit)

interface TableProps {
  set: EnvironmentSet
  rows: readonly FlagAcrossEnvironments[]
  chosen: readonly string[]
  onToggle: (key: string) => void
}

function FlagTable({ set, rows, chosen, onToggle }: TableProps) {
  const t = useMessages()
  const { percent } = useFormats()
  const stateOf = ({ active, rollout_percentage: rollout }: FlagAcrossEnvironments['environments'][number]): string => {
    if (!active) return t.flags.stateOff
    return rollout === null ? t.flags.stateOn : `${t.flags.stateOn} · ${percent(rollout)}`
  }
  return (
    <DataTable
      label={t.environments.flagsOf(set.name)}
      head={[t.environments.flag, ...set.environments.map(({ name }) => name), t.environments.difference]}
      rows={rows.map(row => ({
        key: row.key,
        cells: [
          canPromote(row) ? (
            <Checkbox
              key="key"
              label={row.key}
              aria-label={t.environments.selectFlag(row.key)}
              checked={chosen.includes(row.key)}
              onChange={() => onToggle(row.key)}
            />
          ) : (
            row.key
          ),
          ...set.environments.map(({ project }) => {
            const there = row.environments.find(each => each.project === project)
            return there && there.flag_id !== null ? (
              <Link
                key={project}
                to="/project/$projectId/flags/$flagId"
                params={{ projectId: String(project), flagId: String(there.flag_id) }}
              >
                {stateOf(there)}
              </Link>
            ) : (
              t.environments.missing
            )
          }),
          <Badge key="differs" variant="light" color={row.differs ? 'yellow' : 'green'}>
            {row.differs ? t.environments.different : t.environments.same}
          </Badge>,
        ],
      }))}
    />
  )
}
