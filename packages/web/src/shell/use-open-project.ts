import { type Project, routes } from '@halyard/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCall } from '../services/services.ts'

export function useOpenProject() {
  const call = useCall()
  const navigate = useNavigate()
  const queries = useQueryClient()
  return (project: Pick<Project, 'id'>) => {
    // Stored on the server, so that the next sign-in starts here; nothing waits for it.
    call(routes.users.updateMe, { body: { set_current_team: project.id } })
      .then(me => queries.setQueryData(['me'], me))
      .catch(() => {})
    return navigate({ to: '/project/$projectId', params: { projectId: String(project.id) } })
  }
}
