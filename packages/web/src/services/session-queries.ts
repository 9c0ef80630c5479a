import { routes } from '@halyard/contract'
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import type { Call } from '../api/client.ts'
import { canWrite } from './permissions.ts'
import { useCall } from './services.ts'

const projectsMax = '1000'

export const meQuery = (call: Call) =>
  queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => call(routes.users.getMe, { signal }) })

const projectsQuery = (call: Call) =>
  queryOptions({
    queryKey: ['projects'],
    queryFn: async ({ signal }) =>
      (await call(routes.projects.list, { query: { limit: projectsMax }, signal })).results,
  })

export const organizationsQuery = (call: Call) =>
  queryOptions({
    queryKey: ['organizations'],
    queryFn: async ({ signal }) =>
      (await call(routes.organizations.list, { query: { limit: projectsMax }, signal })).results,
  })

export const useMe = () => useQuery(meQuery(useCall()))
export const useProjects = () => useQuery(projectsQuery(useCall()))
export const useOrganizations = () => useQuery(organizationsQuery(useCall()))

export function useProject(projectId: string) {
  const projects = useProjects()
  return projects.data?.find(project => String(project.id) === projectId)
}

/** The user's membership level in an organization; 0 until it is known. */
export const useMembershipLevel = (organizationId: string | undefined): number =>
  useOrganizations().data?.find(({ id }) => id === organizationId)?.membership_level ?? 0

/** Whether the user's level allows to change anything in the project. */
export const useCanWrite = (projectId: string): boolean => canWrite(useProject(projectId)?.effective_membership_level)

/** Prefetches user, projects and organizations while the page's code is loading. Nothing waits for it. */
export function prefetchSession(queries: QueryClient, call: Call): void {
  const ignoreFailure = () => {}
  queries.ensureQueryData(meQuery(call)).catch(ignoreFailure)
  queries.ensureQueryData(projectsQuery(call)).catch(ignoreFailure)
  queries.ensureQueryData(organizationsQuery(call)).catch(ignoreFailure)
}

/** Whether the session queries have settled. Every page depends on them: rendering earlier would shift the layout. */
export function useSessionReady(): boolean {
  const states = [useMe(), useProjects(), useOrganizations()]
  return states.every(({ isPending }) => !isPending)
}
