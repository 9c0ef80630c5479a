import { useParams } from '@tanstack/react-router'
import { useMe, useProject } from './session-queries.ts'

/** The project and organization in the URL, or else those used last. */
export function useCurrentScope(): { projectId: string | undefined; organizationId: string | undefined } {
  const params = useParams({ strict: false }) as { projectId?: string; organizationId?: string }
  const me = useMe()
  const current = (me.data?.team as { id?: number } | null)?.id
  const projectId = params.projectId ?? (current === undefined ? undefined : String(current))
  const project = useProject(projectId ?? '')
  const currentOrganization = (me.data?.organization as { id?: string } | null)?.id
  return { projectId, organizationId: params.organizationId ?? project?.organization ?? currentOrganization }
}
