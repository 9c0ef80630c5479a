import { type Flag, type Project, routes } from '@halyard/contract'
import { usesFlags } from '@halyard/engine'
import { useQuery } from '@tanstack/react-query'
import type { Call } from '../../api/client.ts'
import { useCall } from '../../services/services.ts'

/** The flag with the same key in another project, with the names needed to describe it. */
export interface FlagInProject {
  readonly flag: Flag | undefined
  readonly cohortNames: Readonly<Record<string, string>>
  readonly flagKeys: Readonly<Record<string, string>>
}

export const flagInProjectsKey = ['flag-copies'] as const

export function useFlagInProjects(key: string, projects: readonly Project[]) {
  const call = useCall()
  return useQuery({
    queryKey: [...flagInProjectsKey, key, projects.map(({ id }) => id).join()],
    queryFn: async () =>
      new Map(await Promise.all(projects.map(async ({ id }) => [id, await loadFlag(call, String(id), key)] as const))),
  })
}

async function loadFlag(call: Call, projectId: string, key: string): Promise<FlagInProject> {
  const params = { project_id: projectId }
  const { results } = await call(routes.flags.list, { params, query: { search: key, limit: '1000' } })
  const flag = results.find(each => each.key === key)
  if (!flag) return { flag, cohortNames: {}, flagKeys: {} }
  const ids = usesFlags(flag.filters).map(Number)
  const [cohorts, keys] = await Promise.all([
    call(routes.cohorts.list, { params, query: { limit: '1000' } }),
    ids.length === 0 ? { keys: {} } : call(routes.flagBulk.keys, { params, body: { ids } }),
  ])
  const cohortNames = Object.fromEntries(cohorts.results.map(({ id, name }) => [String(id), name]))
  return { flag, cohortNames, flagKeys: keys.keys }
}
