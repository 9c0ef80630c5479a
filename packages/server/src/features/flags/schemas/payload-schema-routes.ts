import { type PayloadSchema as PayloadSchemaWire, routes } from '@halyard/contract'
import type { Flag } from '../../../domain/flag.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { requireCanEdit } from '../../access/grants.ts'
import { getFlag } from '../flag-routes.ts'
import type { StoredPayloadSchema } from './payload-schema.ts'
import { checkPayloadSchema, savePayloadSchema } from './set-payload-schema.ts'

export function servePayloadSchemas(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.payloadSchemas

  serve(r.list, ({ project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      return pageBody(await tx.payloadSchemas.list(project.id, window), window, url, schemaToWire)
    }),
  )

  serve(r.get, ({ project, params }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      return wireOf(flag, await tx.payloadSchemas.find(project.id, flag.id))
    }),
  )

  serve(r.put, ({ actor, project, params, ...request }) =>
    database.transaction(async tx => {
      const flag = await editableFlag(tx, actor, project, params.id)
      checkPayloadSchema(request.body.schema, flag, 'schema')
      await savePayloadSchema(tx, actor, project, flag, request.body.schema, now())
      return wireOf(flag, await tx.payloadSchemas.find(project.id, flag.id))
    }),
  )

  serve(r.remove, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      const flag = await editableFlag(tx, actor, project, params.id)
      await savePayloadSchema(tx, actor, project, flag, null, now())
    })
    return answer({ status: 204 })
  })

  /** Payloads must not change between the check and the commit; every save of a flag with payloads holds the same lock. */
  async function editableFlag(tx: Stores, actor: Actor, project: Project, id: string): Promise<Flag> {
    await tx.projects.holdReferences(project.id)
    const flag = await getFlag(tx, project, id)
    await requireCanEdit(tx, actor, project, flag)
    return flag
  }
}

const schemaToWire = ({ flagId, flagKey, schema, updatedAt }: StoredPayloadSchema): PayloadSchemaWire => ({
  flag_id: flagId,
  flag_key: flagKey,
  schema,
  updated_at: updatedAt,
})

const wireOf = (flag: Flag, stored: StoredPayloadSchema | undefined): PayloadSchemaWire =>
  stored ? schemaToWire(stored) : { flag_id: flag.id, flag_key: flag.key, schema: null, updated_at: null }
