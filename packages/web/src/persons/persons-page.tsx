import { routes } from '@halyard/contract'
import { Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useProject } from '../services/session-queries.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { Pagination } from '../ui/data/pagination.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { PersonIcon, SearchIcon } from '../ui/icons.tsx'
import { Page } from '../ui/layout/page.tsx'
import { identifyExample } from './event-examples.ts'
import { PersonLink } from './person-link.tsx'

const pageSize = 50
const waitMilliseconds = 200

export function PersonsPage() {
  const t = useMessages()
  const { day } = useFormats()
  const { projectId } = useParams({ from: '/shell/project/$projectId/persons' })
  const project = useProject(projectId)
  const call = useCall()
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, waitMilliseconds)
  const [offset, setOffset] = useState(0)
  const persons = useQuery({
    queryKey: ['persons', projectId, search, offset],
    queryFn: ({ signal }) =>
      call(routes.persons.list, {
        params: { project_id: projectId },
        query: { search, limit: String(pageSize), offset: String(offset) },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  return (
    <Page title={t.shell.persons} intro={t.persons.intro}>
      <TextInput
        aria-label={t.persons.search}
        placeholder={t.persons.search}
        leftSection={<SearchIcon size={16} />}
        maw={420}
        mb="sm"
        value={typed}
        onChange={event => {
          setTyped(event.currentTarget.value)
          setOffset(0)
        }}
      />
      <Loaded query={persons}>
        {({ results, count }) =>
          results.length === 0 ? (
            search === '' ? (
              <EmptyState
                Icon={PersonIcon}
                title={t.persons.none}
                text={t.persons.noneText}
                code={identifyExample(project?.api_token)}
              />
            ) : (
              <Text>{t.persons.noMatches}</Text>
            )
          ) : (
            <Stack>
              <DataTable
                label={t.shell.persons}
                head={[t.persons.name, t.persons.distinctIds, t.persons.since, '']}
                rows={results.map(person => ({
                  key: person.uuid,
                  cells: [
                    <PersonLink key="name" projectId={projectId} person={person} />,
                    <DistinctIds key="ids" ids={person.distinct_ids} />,
                    day(person.created_at),
                    <Link
                      key="debugger"
                      to="/project/$projectId/debugger"
                      params={{ projectId }}
                      search={{ id: person.distinct_ids[0] ?? '' }}
                      aria-label={t.persons.debugFlags(person.name)}
                    >
                      {t.persons.debug}
                    </Link>,
                  ],
                }))}
              />
              <Pagination count={count} offset={offset} pageSize={pageSize} onChange={setOffset} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  )
}

const idsMax = 2

/** A long one leaves space for the other columns. */
const DistinctIds = ({ ids }: { ids: readonly string[] }) => (
  <Text span size="sm" display="block" maw="26rem">
    {ids.slice(0, idsMax).join(', ')}
  </Text>
)
