import { routes, tokenOverlapHoursMax } from '@halyard/contract'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import { type Actor, adminLevel, levelIn, type Project, requireLevel } from '../../tenancy.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { currentOrganizationId, visibleProjects } from '../identity/authenticator.ts'
import { hashSecret, maskSecret, newId, newSecret } from '../identity/secret.ts'
import { announceProject, auditedFields, createProject, placeOf, recordProject } from './create-project.ts'
import type { ProjectPatch } from './project.ts'
import { projectToWire, secretKeyToWire } from './project-resource.ts'
import { refuseWhileProtected } from './refuse-while-protected.ts'

interface Deps {
  readonly database: Database
  readonly now: () => Instant
}

export function serveProjects(serve: ServeRoute, { database, now }: Deps): void {
  const {
    list,
    create,
    get,
    update,
    remove,
    resetToken,
    endTokenOverlap,
    listSecretKeys,
    createSecretKey,
    removeSecretKey,
  } = routes.projects
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
    return projectToWire(await change(project, actor, patch), actor)
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
    return undefined
  }

  serve(resetToken, async ({ project, actor, query }) => {
    requireLevel(actor, project.organizationId, adminLevel, 'replace the token')
    const overlapMilliseconds = readOverlapHours(query.overlap_hours) * hourMilliseconds
    const rotated = await database.transaction(async tx => {
      // Locked before it is read: two rotations must not both keep the same token.
      await tx.projects.update(project.id, { updatedAt: now() })
      const stored = await tx.projects.find(project.id)
      if (!stored) throw missing('Project')
      const previousToken =
        overlapMilliseconds === 0
          ? null
          : { token: stored.apiToken, expiresAt: plusMilliseconds(now(), overlapMilliseconds) }
      const apiToken = newSecret('phc_')
      await tx.projects.update(project.id, { apiToken, previousToken, updatedAt: now() })
      await announceProject(tx, project, now())
      recordProject(tx, actor, project, { activity: 'token_replaced' }, now())
      return { ...stored, apiToken, previousToken: previousToken ?? undefined }
    })
    return projectToWire(rotated, actor)
  })

  serve(endTokenOverlap, async ({ project, actor }) => {
    requireLevel(actor, project.organizationId, adminLevel, 'revoke the previous token')
    await change(project, actor, { previousToken: null })
    return answer({ status: 204 })
  })

  serve(listSecretKeys, async ({ project, query, url }) => {
    const window = readWindow(query)
    const page = await database.read(tx => tx.projects.listSecretKeys(project.id, window))
    return pageBody(page, window, url, key => secretKeyToWire(key))
  })

  serve(createSecretKey, async ({ project, actor, body }) => {
    requireLevel(actor, project.organizationId, adminLevel, 'create a secret key')
    const value = newSecret('phs_')
    const key = {
      id: newId(),
      projectId: project.id,
      label: body.label,
      hash: hashSecret(value),
      mask: maskSecret(value),
      createdAt: now(),
    }
    await changeSecrets(project, async tx => {
      await tx.projects.createSecretKey(key)
      recordSecretKey(tx, actor, project, { ...key, activity: 'created' }, now())
    })
    return secretKeyToWire(key, value)
  })

  serve(removeSecretKey, async ({ project, actor, params }) => {
    requireLevel(actor, project.organizationId, adminLevel, 'revoke a secret key')
    await changeSecrets(project, async tx => {
      if (!(await tx.projects.removeSecretKey(project.id, params.key_id))) throw missing('Secret key')
      recordSecretKey(tx, actor, project, { id: params.key_id, label: '', activity: 'deleted' }, now())
    })
    return answer({ status: 204 })
  })

  const change = (project: Project, actor: Actor, patch: Omit<ProjectPatch, 'updatedAt'>): Promise<Project> =>
    database.transaction(async tx => {
      const stored = await tx.projects.find(project.id)
      await tx.projects.update(project.id, { ...patch, updatedAt: now() })
      // Read after the write: the row is locked now, and holds what others wrote before.
      const changed = await tx.projects.find(project.id)
      if (!changed) throw missing('Project')
      await announceProject(tx, changed, now())
      const fields = { before: auditedFields(stored ?? project), after: auditedFields(changed) }
      recordProject(tx, actor, changed, { activity: 'updated', ...fields }, now())
      return changed
    })

  const changeSecrets = (project: Project, change: (tx: Stores) => Promise<void>): Promise<void> =>
    database.transaction(async tx => {
      await change(tx)
      await announceProject(tx, project, now())
    })
}

const recordSecretKey = (
  tx: Stores,
  actor: Actor,
  project: Project,
  { id, label, activity }: { readonly id: string; readonly label: string; readonly activity: string },
  now: Instant,
): void => recordAudit(tx, actor, placeOf(project), { scope: 'SecretKey', itemId: id, name: label, activity }, now)

const hourMilliseconds = 60 * 60 * 1000

function readOverlapHours(text: string | undefined): number {
  const hours = Number(text ?? 0)
  if (Number.isInteger(hours) && hours >= 0 && hours <= tokenOverlapHoursMax) return hours
  throw invalid(
    'overlap_hours',
    'invalid_input',
    `\`overlap_hours\` must be an integer from 0 to ${tokenOverlapHoursMax}.`,
  )
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
