import { type FlagHealth, type HealthCheck, routes } from '@halyard/contract'
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { HealthBadges, healthChecks } from '../flags/page/health-badges.tsx'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { Pagination } from '../ui/data/pagination.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { PulseIcon, SearchIcon } from '../ui/icons.tsx'
import { Page } from '../ui/layout/page.tsx'
import { ArchiveButton } from './archive-button.tsx'

const pageSize = 50
const waitMilliseconds = 200

/** The flags that need attention, and why. */
export function HealthPage() {
  const t = useMessages()
  const { count: format } = useFormats()
  const { projectId } = useParams({ from: '/shell/project/$projectId/health' })
  const call = useCall()
  const [check, setCheck] = useState<HealthCheck>()
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, waitMilliseconds)
  const [offset, setOffset] = useState(0)
  const health = useQuery({
    queryKey: ['flag-health', projectId, check, search, offset],
    queryFn: ({ signal }) =>
      call(routes.flagDetails.health, {
        params: { project_id: projectId },
        query: { limit: String(pageSize), offset: String(offset), search, ...(check && { check }) },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  const choose = (next: HealthCheck | undefined) => {
    setCheck(next)
    setOffset(0)
  }
  return (
    <Page title={t.health.title} intro={t.health.intro} wide>
      <Loaded query={health}>
        {({ results, count, summary }) => (
          <Stack>
            <Group gap="xs" role="group" aria-label={t.health.filter}>
              <Choice label={t.health.all} isChosen={check === undefined} onChoose={() => choose(undefined)} />
              {healthChecks.map(name => (
                <Choice
                  key={name}
                  label={`${t.health.checks[name]} ${format(summary[name] ?? 0)}`}
                  isChosen={check === name}
                  onChoose={() => choose(name)}
                />
              ))}
            </Group>
            {check && (
              <Text size="sm" c="dimmed">
                {t.health.hints[check]}
              </Text>
            )}
            <TextInput
              aria-label={t.health.search}
              placeholder={t.health.search}
              leftSection={<SearchIcon size={16} />}
              maw={360}
              value={typed}
              onChange={event => {
                setTyped(event.currentTarget.value)
                setOffset(0)
              }}
            />
            {results.length === 0 ? (
              <EmptyState Icon={PulseIcon} title={t.health.none} text={t.health.noneText} />
            ) : (
              <DataTable
                label={t.health.title}
                head={[t.health.flag, t.health.findings, t.health.lastCalled, t.health.owner, '']}
                rows={results.map(flag => ({
                  key: flag.id,
                  cells: [
                    <FlagLink key="flag" projectId={projectId} flag={flag} />,
                    <HealthBadges key="checks" checks={flag.checks} />,
                    flag.last_called_at ? (
                      <RelativeTime key="called" instant={flag.last_called_at} />
                    ) : (
                      t.health.neverCalled
                    ),
                    flag.owner?.first_name || flag.owner?.email || t.common.none,
                    flag.can_edit && <ArchiveButton key="archive" projectId={projectId} flag={flag} />,
                  ],
                }))}
              />
            )}
            <Pagination count={count} offset={offset} pageSize={pageSize} onChange={setOffset} />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

function FlagLink({ projectId, flag }: { projectId: string; flag: FlagHealth }) {
  const t = useMessages()
  return (
    <>
      <Link to="/project/$projectId/flags/$flagId" params={{ projectId, flagId: String(flag.id) }}>
        {flag.key}
      </Link>
      {flag.constant_value !== null && (
        <Text size="xs" c="dimmed">
          {t.health.constantValue(String(flag.constant_value))}
        </Text>
      )}
    </>
  )
}

function Choice({ label, isChosen, onChoose }: { label: string; isChosen: boolean; onChoose: () => void }) {
  return (
    <Button size="compact-sm" variant={isChosen ? 'filled' : 'default'} aria-pressed={isChosen} onClick={onChoose}>
      {label}
    </Button>
  )
}
