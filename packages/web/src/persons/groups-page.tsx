import { type GroupType, routes } from '@halyard/contract'
import { Accordion, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useProject } from '../services/session-queries.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { Pagination } from '../ui/data/pagination.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { BuildingIcon, SearchIcon } from '../ui/icons.tsx'
import { Page } from '../ui/layout/page.tsx'
import { groupExample } from './event-examples.ts'
import { PropertyTable } from './property-table.tsx'

const pageSize = 50
const waitMilliseconds = 200

export function GroupsPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/groups' })
  const project = useProject(projectId)
  const types = useApiQuery(['group-types', projectId], routes.groups.listTypes, { params: { project_id: projectId } })
  return (
    <Page title={t.shell.groups} intro={t.groups.intro}>
      <Loaded query={types}>
        {all =>
          all.length === 0 ? (
            <EmptyState
              Icon={BuildingIcon}
              title={t.groups.none}
              text={t.groups.noneText}
              code={groupExample(project?.api_token)}
            />
          ) : (
            <GroupsOfTypes projectId={projectId} types={all} />
          )
        }
      </Loaded>
    </Page>
  )
}

function GroupsOfTypes({ projectId, types }: { projectId: string; types: readonly GroupType[] }) {
  const t = useMessages()
  const call = useCall()
  const [index, setIndex] = useState(String(types[0]?.group_type_index ?? 0))
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, waitMilliseconds)
  const [offset, setOffset] = useState(0)
  const groups = useQuery({
    queryKey: ['groups', projectId, index, search, offset],
    queryFn: ({ signal }) =>
      call(routes.groups.list, {
        params: { project_id: projectId },
        query: { group_type_index: index, search, limit: String(pageSize), offset: String(offset) },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  return (
    <Stack>
      <Group>
        <SegmentedControl
          aria-label={t.groups.type}
          value={index}
          onChange={value => {
            setIndex(value)
            setOffset(0)
          }}
          data={types.map(({ group_type, group_type_index }) => ({
            value: String(group_type_index),
            label: group_type,
          }))}
        />
        <TextInput
          aria-label={t.groups.search}
          placeholder={t.groups.search}
          leftSection={<SearchIcon size={16} />}
          flex={1}
          maw={420}
          value={typed}
          onChange={event => {
            setTyped(event.currentTarget.value)
            setOffset(0)
          }}
        />
      </Group>
      <Loaded query={groups}>
        {({ results, count }) => (
          <>
            {results.length === 0 && <Text>{t.persons.noMatches}</Text>}
            <Accordion order={2}>
              {results.map(({ group_key, group_properties }) => (
                <Accordion.Item key={group_key} value={group_key}>
                  <Accordion.Control>{group_key}</Accordion.Control>
                  <Accordion.Panel>
                    <PropertyTable properties={group_properties} />
                  </Accordion.Panel>
                </Accordion.Item>
              ))}
            </Accordion>
            <Pagination count={count} offset={offset} pageSize={pageSize} onChange={setOffset} />
          </>
        )}
      </Loaded>
    </Stack>
  )
}
