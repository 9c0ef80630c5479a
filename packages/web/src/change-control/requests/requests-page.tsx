import { type ChangeRequest, routes } from '@halyard/contract'
import { NativeSelect, Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Pagination } from '../../ui/data/pagination.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { CheckIcon } from '../../ui/icons.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { InboxNews } from '../inbox/inbox-news.tsx'
import { filterQueries, type RequestFilter, requestFilters } from './request-filter.ts'
import { RequestState } from './request-state.tsx'

const pageSize = 50

/** The change requests of a project; first those that wait for the user. */
export function RequestsPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/requests' })
  const { show = 'inbox' } = useSearch({ from: '/shell/project/$projectId/requests' })
  const project = useProject(projectId)
  const navigate = useNavigate()
  const call = useCall()
  const [offset, setOffset] = useState(0)
  const requests = useQuery({
    queryKey: ['change-requests', projectId, 'list', show, offset],
    queryFn: ({ signal }) =>
      call(routes.changeRequests.list, {
        params: { project_id: projectId },
        query: { ...filterQueries[show], limit: String(pageSize), offset: String(offset) },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  const names: Record<RequestFilter, string> = {
    inbox: t.requests.inbox,
    open: t.requests.open,
    mine: t.requests.mine,
    closed: t.requests.closed,
    emergencies: t.requests.emergencies,
    all: t.requests.all,
  }
  const choose = (next: string) => {
    setOffset(0)
    navigate({
      to: '/project/$projectId/requests',
      params: { projectId },
      search: { show: requestFilters.find(name => name === next) },
    })
  }
  return (
    <Page title={t.requests.title} intro={`${project?.name ?? ''} · ${t.requests.intro}`}>
      <NativeSelect
        aria-label={t.requests.filter}
        maw={280}
        mb="md"
        value={show}
        onChange={event => choose(event.currentTarget.value)}
        data={requestFilters.map(value => ({ value, label: names[value] }))}
      />
      <Stack gap="lg">
        <Loaded query={requests}>
          {({ results, count }) =>
            results.length === 0 ? (
              <EmptyState
                Icon={CheckIcon}
                title={show === 'inbox' ? t.requests.inboxEmpty : t.requests.empty}
                text={show === 'inbox' ? t.requests.inboxEmptyText : t.requests.emptyText}
              />
            ) : (
              <>
                <RequestTable label={names[show]} projectId={projectId} requests={results} />
                <Pagination count={count} offset={offset} pageSize={pageSize} onChange={setOffset} />
              </>
            )
          }
        </Loaded>
        {show === 'inbox' && <InboxNews projectId={projectId} />}
      </Stack>
    </Page>
  )
}

interface TableProps {
  label: string
  projectId: string
  requests: readonly ChangeRequest[]
}

function RequestTable({ label, projectId, requests }: TableProps) {
  const t = useMessages()
  return (
    <DataTable
      label={label}
      head={[t.requests.columnTitle, t.requests.columnState, t.requests.columnBy, t.requests.columnWhen]}
      rows={requests.map(({ id, title, state, emergency_reason, created_by, created_at }) => ({
        key: id,
        cells: [
          <Link key="title" to="/project/$projectId/requests/$requestId" params={{ projectId, requestId: String(id) }}>
            {title}
          </Link>,
          <RequestState key="state" state={state} isEmergency={emergency_reason !== null} />,
          created_by.first_name || created_by.email,
          <RelativeTime key="time" instant={created_at} />,
        ],
      }))}
    />
  )
}
