import { routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../http/routes/serve-route.ts'
import { invalid, missing } from '../../problem.ts'
import { type Actor, adminLevel, levelIn, type Project, requireLevel } from '../../tenancy.ts'
import { currentOrganizationId, visibleProjects } from '../identity/authenticator.ts'
import { changeProject } from './change-project.ts'
import { announceProject, auditedFields, createProject, recordProject } from './create-project.ts'
import { projectToWire } from './project-resource.ts'
import { refuseWhileProtected } from './refuse-while-protected.ts'

interface Deps extends RouteDeps {
  /** Starts the removal of what is left. */
  readonly onDeleted: () => void
}

export function serveProjects(serve: ServeRoute, { database, onDeleted, now }: Deps): void {
  const { list, create, get, update, remove } = routes.projects
  const within = routes.organizationProjects

  serve(list, async ({ actor, query, url }) => {
    const window = readWindow(query)
    const page = await database.read(tx => tx.projects.list(visibleProjects(actor), window))
    return pageBody(page, window, url, project => projectToWire(project, actor))
  })

  serve(within.list, async ({ actor, organization, query, url }) => {
    const window = readWindow(query)
    const all = visibleProjects(actor)
    const visible = { ...all, organizationIds: all.organizationIds.filter(id => id === organization.id) }
    const page = await database.read(tx => tx.projects.list(visible, window))
    return pageBody(page, window, url, project => projectToWire(project, actor))
  })

  serve(create, async ({ actor, body }) => {
    const organizationId = body.organization ?? currentOrganizationId(actor)
    if (organizationId === undefined || levelIn(actor, organizationId) === undefined) {
      throw invalid('organization', 'does_not_exist', '`organization` is not one of your organizations.')
    }
    return createIn(organizationId, actor, body)
  })

  serve(within.create, ({ actor, organization, body }) => createIn(organization.id, actor, body))

  async function createIn(organizationId: string, actor: Actor, body: ProjectFields) {
    requireLevel(actor, organizationId, adminLevel, 'create a project')
    const name = body.name ?? 'Default project'
    const timezone = checkedTimezone(body.timezone)
    const input = {
      organizationId,
      name,
      timezone: timezone ?? 'UTC',
      propertyMatchingVersion: body.property_matching_version ?? 2,
    }
    return projectToWire(await database.transaction(tx => createProject(tx, actor, input, now())), actor)
  }

  serve(get, async ({ project, actor }) => projectToWire(project, actor))
  serve(within.get, async ({ project, actor, params }) => {
    requireOrganization(project, actor, params.parent_lookup_organization_id)
    return projectToWire(project, actor)
  })
  serve(within.getEnvironment, async ({ project, actor }) => projectToWire(project, actor))

  serve(update, ({ project, actor, body }) => updateFields(project, actor, body))
  serve(within.update, ({ project, actor, params, body }) => {
    requireOrganization(project, actor, params.parent_lookup_organization_id)
    return updateFields(project, actor, body)
  })
  serve(within.updateEnvironment, ({ project, actor, body }) => updateFields(project, actor, body))

  async function updateFields(project: Project, actor: Actor, body: ProjectFields) {
    requireLevel(actor, project.organizationId, adminLevel, 'change a project')
    const timezone = checkedTimezone(body.timezone)
    const patch = { name: body.name, timezone, propertyMatchingVersion: body.property_matching_version }
    return projectToWire(await changeProject(database, actor, project, patch, now), actor)
  }

  serve(remove, ({ project, actor }) => removeProject(project, actor))
  serve(within.remove, ({ project, actor, params }) => {
    requireOrganization(project, actor, params.parent_lookup_organization_id)
    return removeProject(project, actor)
  })

  async function removeProject(project: Project, actor: Actor): Promise<undefined> {
    requireLevel(actor, project.organizationId, adminLevel, 'delete a project')
    await database.transaction(async tx => {
      await refuseWhileProtected(tx, project, now())
      await tx.projects.remove(project.id)
      recordProject(tx, actor, project, { activity: 'deleted', before: auditedFields(project) }, now())
      await announceProject(tx, project, now())
    })
    onDeleted()
    return undefined
  }
}

interface ProjectFields {
  readonly name?: string
  readonly timezone?: string
  readonly property_matching_version?: 1 | 2
}

/** A project of another organization is not found below this one. */
function requireOrganization(project: Project, actor: Actor, organizationId: string): void {
  const id = organizationId === '@current' ? currentOrganizationId(actor) : organizationId.toLowerCase()
  if (project.organizationId !== id) throw missing('Project')
}

function checkedTimezone(timezone: string | undefined): string | undefined {
  if (timezone === undefined) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: timezone }) && timezone
  } catch {
    throw invalid('timezone', 'invalid_choice', '`timezone` must be an IANA time zone, such as "Europe/Berlin".')
  }
}
