import { useParams } from '@tanstack/react-router'
import { readLastProject } from './last-project.ts'
import { useMe, useProjects } from './session-queries.ts'

/** The project and organization in the URL, or else those used last. On a page of an organization, one of its projects. */
export function useCurrentScope(): { projectId: string | undefined; organizationId: string | undefined } {
  const params = useParams({ strict: false }) as { projectId?: string; organizationId?: string }
  const me = useMe()
  const projects = useProjects().data ?? []
  const shown = readLastProject(localStorage)
  const current = projects.find(({ id }) => String(id) === shown)?.id ?? (me.data?.team as { id?: number } | null)?.id
  const isOfOrganization = ({ organization }: { organization: string }) => organization === params.organizationId
  const last = projects.find(({ id }) => id === current)
  const isElsewhere = params.organizationId !== undefined && last !== undefined && !isOfOrganization(last)
  const chosen = isElsewhere ? projects.find(isOfOrganization)?.id : current
  const projectId = params.projectId ?? (chosen === undefined ? undefined : String(chosen))
  const project = projects.find(({ id }) => String(id) === projectId)
  const currentOrganization = (me.data?.organization as { id?: string } | null)?.id
  return { projectId, organizationId: params.organizationId ?? project?.organization ?? currentOrganization }
}
