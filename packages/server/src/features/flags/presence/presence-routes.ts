import { presentPeopleMax, routes } from '@halyard/contract'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { forbidden } from '../../../problem.ts'
import type { Database } from '../../../stores.ts'
import { type Actor, type Project, viewOnlyLevel } from '../../../tenancy.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { getFlag } from '../flag-routes.ts'
import type { Presence } from './presence.ts'

interface Deps {
  readonly database: Database
  readonly presence: Presence
}

export function serveFlagPresence(serve: ServeRoute, { database, presence }: Deps): void {
  const r = routes.flagPresence

  serve(r.report, async request => {
    const { actor, project, params } = request
    if (actor.isService) throw forbidden('A service key is no person. Use a personal API key.')
    return database.read(async tx => {
      const { id } = await getFlag(tx, project, params.id)
      const page = pageOf(actor, project, id, params.page_id)
      presence.report({ ...page, isEditing: request.body.is_editing })
      const others = presence.others(page)
      const named = others.slice(0, presentPeopleMax)
      const people = await Promise.all(
        named.map(async ({ user, isEditing }) => {
          // They may have left the organization since.
          const member = await tx.organizations.findMember(project.organizationId, user)
          if (!member || member.level < viewOnlyLevel) return []
          return [{ user: userToWire(member.user), is_editing: isEditing }]
        }),
      )
      const results = people.flat()
      return { count: others.length - named.length + results.length, results }
    })
  })

  serve(r.leave, async ({ actor, project, params }) => {
    presence.leave(pageOf(actor, project, Number(params.id), params.page_id))
    return answer({ status: 204 })
  })
}

const pageOf = (actor: Actor, project: Project, flagId: number, page: string) => ({
  organizationId: project.organizationId,
  projectId: project.id,
  flagId,
  user: actor.user.uuid,
  page,
})
