import { type EnvironmentSet, routes } from '@halyard/contract'
import { Button, Group, NativeSelect, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type ReactNode, Suspense, useState } from 'react'
import { useEnvironmentSets } from '../../flags/environments/environment-queries.ts'
import { nextEnvironment } from '../../flags/environments/promotion.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useCanWrite } from '../../services/session-queries.ts'
import { Pagination } from '../../ui/data/pagination.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { NotFound } from '../../ui/feedback/not-found.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { LayersIcon, SearchIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { lazyComponent } from '../../ui/lazy-component.tsx'
import { ComparedFlags } from './compared-flags.tsx'

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
  const [to, setTo] = useState(nextEnvironment(set, from)?.project ?? from)
  const [isPromoting, setIsPromoting] = useState(false)
  const canCreate = useCanWrite(String(to))
  const flags = useFlagsAcross(organizationId, set.id, { isDiffering, search, offset })
  const toggle = (key: string) =>
    setChosen(old => (old.includes(key) ? old.filter(each => each !== key) : [...old, key]))
  const turn = (next: { from: number; to: number }) => {
    setFrom(next.from)
    setTo(next.to)
    // What can be promoted depends on the direction.
    setChosen([])
  }
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
        </Group>
        <DirectionForm set={set} from={from} to={to} onChange={turn}>
          <Button disabled={chosen.length === 0} onClick={() => setIsPromoting(true)}>
            {chosen.length === 0 ? t.environments.selectToPromote : t.environments.promoteSelected(chosen.length)}
          </Button>
        </DirectionForm>
        <Loaded query={flags}>
          {({ results, count }) =>
            results.length === 0 ? (
              <EmptyState
                Icon={LayersIcon}
                title={isDiffering && search === '' ? t.environments.allSame : t.environments.noFlags}
                text={t.environments.noFlagsText}
              />
            ) : (
              <>
                <ComparedFlags
                  set={set}
                  rows={results}
                  direction={{ from, to, canCreate }}
                  chosen={chosen}
                  onToggle={toggle}
                />
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
            to={to}
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

interface DirectionProps {
  set: EnvironmentSet
  from: number
  to: number
  onChange: (direction: { from: number; to: number }) => void
  children: ReactNode
}

/** "staging → production": a choice that would lead to itself turns the direction around. */
function DirectionForm({ set, from, to, onChange, children }: DirectionProps) {
  const t = useMessages()
  const options = set.environments.map(({ project, name }) => ({ value: String(project), label: name }))
  const choose = (next: { from?: number; to?: number }) => {
    const direction = { from, to, ...next }
    onChange(direction.from === direction.to ? { from: to, to: from } : direction)
  }
  return (
    <Group align="flex-end" gap="xs">
      <NativeSelect
        label={t.promotion.from}
        value={String(from)}
        onChange={event => choose({ from: Number(event.currentTarget.value) })}
        data={options}
      />
      <Text aria-hidden="true" pb={8}>
        →
      </Text>
      <NativeSelect
        label={t.promotion.to}
        value={String(to)}
        onChange={event => choose({ to: Number(event.currentTarget.value) })}
        data={options}
      />
      {children}
    </Group>
  )
}
