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
  /** The ids of the flags there that the flag here depends on, by key. */
  readonly dependencies: Readonly<Record<string, number>>
}

export const flagInProjectsKey = ['flag-copies'] as const

/** What is compared with other projects. */
export interface ComparedFlag {
  readonly key: string
  /** The keys of the flags it depends on. */
  readonly needs: readonly string[]
}

export function useFlagInProjects(flag: ComparedFlag, projects: readonly Project[]) {
  const call = useCall()
  return useQuery({
    queryKey: [...flagInProjectsKey, flag, projects.map(({ id }) => id).join()],
    queryFn: async () =>
      new Map(
        await Promise.all(projects.map(async ({ id }) => [id, await loadFlagIn(call, String(id), flag)] as const)),
      ),
  })
}

export async function findFlagIn(call: Call, projectId: string, key: string): Promise<Flag | undefined> {
  const { results } = await call(routes.flags.list, {
    params: { project_id: projectId },
    query: { search: key, limit: '1000' },
  })
  return results.find(each => each.key === key)
}

export async function loadFlagIn(call: Call, projectId: string, { key, needs }: ComparedFlag): Promise<FlagInProject> {
  const params = { project_id: projectId }
  const [flag, cohorts, needed] = await Promise.all([
    findFlagIn(call, projectId, key),
    call(routes.cohorts.list, { params, query: { limit: '1000' } }),
    Promise.all(needs.map(each => findFlagIn(call, projectId, each))),
  ])
  const ids = flag ? usesFlags(flag.filters).map(Number) : []
  const keys = ids.length === 0 ? { keys: {} } : await call(routes.flagBulk.keys, { params, body: { ids } })
  return {
    flag,
    cohortNames: Object.fromEntries(cohorts.results.map(({ id, name }) => [String(id), name])),
    flagKeys: keys.keys,
    dependencies: Object.fromEntries(needed.flatMap(each => (each ? [[each.key, each.id]] : []))),
  }
}
