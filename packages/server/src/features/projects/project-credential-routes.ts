import { routes, tokenOverlapHoursMax } from '@halyard/contract'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { type Actor, adminLevel, type Project, requireLevel } from '../../tenancy.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { hashSecret, maskSecret, newId, newSecret } from '../identity/secret.ts'
import { changeProject } from './change-project.ts'
import { announceProject, placeOf, recordProject } from './create-project.ts'
import { projectToWire, secretKeyToWire } from './project-resource.ts'

/** The token of a project, for clients, and its secret keys, for servers. */
export function serveProjectCredentials(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.projects

  serve(r.resetToken, async ({ project, actor, query }) => {
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

  serve(r.endTokenOverlap, async ({ project, actor }) => {
    requireLevel(actor, project.organizationId, adminLevel, 'revoke the previous token')
    await changeProject(database, actor, project, { previousToken: null }, now)
    return answer({ status: 204 })
  })

  serve(r.listSecretKeys, async ({ project, query, url }) => {
    const window = readWindow(query)
    const page = await database.read(tx => tx.projects.listSecretKeys(project.id, window))
    return pageBody(page, window, url, key => secretKeyToWire(key))
  })

  serve(r.createSecretKey, async ({ project, actor, body }) => {
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

  serve(r.removeSecretKey, async ({ project, actor, params }) => {
    requireLevel(actor, project.organizationId, adminLevel, 'revoke a secret key')
    await changeSecrets(project, async tx => {
      if (!(await tx.projects.removeSecretKey(project.id, params.key_id))) throw missing('Secret key')
      recordSecretKey(tx, actor, project, { id: params.key_id, label: '', activity: 'deleted' }, now())
    })
    return answer({ status: 204 })
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
