import { routes } from '@halyard/contract'
import { useQuery } from '@tanstack/react-query'
import { useCall } from '../app/services.ts'

const projectsMax = '1000'

export function useMe() {
  const call = useCall()
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => call(routes.users.getMe, { signal }) })
}

export function useProjects() {
  const call = useCall()
  return useQuery({
    queryKey: ['projects'],
    queryFn: async ({ signal }) =>
      (await call(routes.projects.list, { query: { limit: projectsMax }, signal })).results,
  })
}

export function useOrganizations() {
  const call = useCall()
  return useQuery({
    queryKey: ['organizations'],
    queryFn: async ({ signal }) =>
      (await call(routes.organizations.list, { query: { limit: projectsMax }, signal })).results,
  })
}

export function useProject(projectId: string) {
  const projects = useProjects()
  return projects.data?.find(project => String(project.id) === projectId)
}
