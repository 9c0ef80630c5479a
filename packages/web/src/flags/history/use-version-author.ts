import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useFormats } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import type { TabProps } from '../flag-tabs.ts'

export interface VersionAuthor {
  readonly name: string
  readonly time: string
}

/** Who saved the current version of the flag, and when; undefined until it is loaded, and for automatic changes. */
export function useVersionAuthor(
  { flag, project }: Pick<TabProps, 'flag' | 'project'>,
  isWanted: boolean,
): VersionAuthor | undefined {
  const call = useCall()
  const { moment } = useFormats()
  const params = { project_id: String(project.id), id: String(flag.id), version: String(flag.version) }
  const { data } = useQuery({
    queryKey: ['flag-history', params.project_id, params.id, 'author', flag.version],
    queryFn: ({ signal }) => call(routes.flagVersions.get, { params, signal }),
    enabled: isWanted,
    retry: false,
  })
  const user = data?.created_by
  return user ? { name: user.first_name || user.email, time: moment(data.created_at) } : undefined
}
