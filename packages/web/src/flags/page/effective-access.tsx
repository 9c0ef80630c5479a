import { type EffectiveAccess as Access, routes } from '@halyard/contract'
import { Badge, Stack, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMessages } from '../../i18n/language.tsx'
import { accessSource } from '../../organizations/access-source.ts'
import { useCall } from '../../services/services.ts'
import { DataTable } from '../../ui/data/data-table.tsx'
import { Pagination } from '../../ui/data/pagination.tsx'

const pageSize = 50

/** A page of the members. The server decides their access by the rules that requests pass. */
export function useEffectiveAccess(params: { readonly project_id: string; readonly id: string }, offset: number) {
  const call = useCall()
  return useQuery({
    queryKey: ['effective-access', params.project_id, params.id, offset],
    queryFn: ({ signal }) => {
      const query = { limit: String(pageSize), offset: String(offset) }
      return call(routes.roleAccess.listEffective, { params, query, signal })
    },
    placeholderData: keepPreviousData,
  })
}

interface Props {
  members: { readonly results: readonly Access[]; readonly count: number }
  offset: number
  onPage: (offset: number) => void
}

/** What each member can do with the flag, and why. */
export function EffectiveAccess({ members: { results, count }, offset, onPage }: Props) {
  const t = useMessages()
  return (
    <section>
      <Title order={2} mb="xs">
        {t.access.effective}
      </Title>
      <Stack>
        <Text size="sm" c="dimmed">
          {t.access.effectiveIntro}
        </Text>
        <DataTable
          label={t.access.effective}
          head={[t.access.member, t.access.level, t.access.because]}
          rows={results.map(access => ({
            key: access.user.uuid,
            cells: [
              <MemberName key="member" user={access.user} />,
              <Badge key="level" variant="light" color={access.access_level === 'editor' ? 'green' : 'gray'}>
                {t.access.levels[access.access_level]}
              </Badge>,
              accessSource(t, access),
            ],
          }))}
        />
        <Pagination count={count} offset={offset} pageSize={pageSize} onChange={onPage} />
      </Stack>
    </section>
  )
}

const MemberName = ({ user }: { user: Access['user'] }) => (
  <>
    {user.first_name}{' '}
    <Text span size="sm" c="dimmed">
      {user.email}
    </Text>
  </>
)
