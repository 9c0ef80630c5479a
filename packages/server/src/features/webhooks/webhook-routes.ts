import { routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { missing } from '../../problem.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import { type Actor, adminLevel, type Project, requireLevel } from '../../tenancy.ts'
import { deliver } from './deliver-webhooks.ts'
import { createWebhook, getWebhook, removeWebhook, rotateSecret, testDelivery, updateWebhook } from './save-webhook.ts'
import type { Delivery } from './webhook.ts'
import { deliveryToWire, webhookToWire } from './webhook-resource.ts'

interface Deps extends RouteDeps {
  readonly outgoing: Outgoing
  readonly secretBox: SecretBox
}

/** Serves the webhooks of a project. Admins only: an address may carry a token. */
export function serveWebhooks(serve: ServeRoute, { database, outgoing, secretBox, now }: Deps): void {
  const r = routes.webhooks
  const requireAdmin = (actor: Actor, project: Project) =>
    requireLevel(actor, project.organizationId, adminLevel, 'manage webhooks')
  const send = async (delivery: Delivery) =>
    deliveryToWire((await deliver(database, { outgoing, secretBox }, delivery, now())) ?? delivery)

  serve(r.list, async ({ actor, project, query, url }) => {
    requireAdmin(actor, project)
    const window = readWindow(query)
    return pageBody(await database.read(tx => tx.webhooks.list(project.id, window)), window, url, webhookToWire)
  })

  serve(r.create, async ({ actor, project, body }) => {
    requireAdmin(actor, project)
    const content = {
      name: body.name,
      url: body.url,
      format: body.format ?? 'json',
      events: [...new Set(body.events ?? [])],
      tag: body.tag ?? null,
      enabled: body.enabled ?? true,
    }
    const made = await database.transaction(tx => createWebhook(tx, actor, project, { content, secretBox }, now()))
    return { ...webhookToWire(made.webhook), secret: made.secret }
  })

  serve(r.get, async ({ actor, project, params }) => {
    requireAdmin(actor, project)
    return webhookToWire(await database.read(tx => getWebhook(tx, project, Number(params.webhook_id))))
  })

  serve(r.update, async ({ actor, project, params, body }) => {
    requireAdmin(actor, project)
    const { events, ...fields } = body
    const patch = { ...fields, ...(events && { events: [...new Set(events)] }) }
    const webhookId = Number(params.webhook_id)
    return webhookToWire(
      await database.transaction(tx => updateWebhook(tx, actor, project, { webhookId, patch }, now())),
    )
  })

  serve(r.remove, async ({ actor, project, params }) => {
    requireAdmin(actor, project)
    await database.transaction(tx => removeWebhook(tx, actor, project, Number(params.webhook_id), now()))
    return answer({ status: 204 })
  })

  serve(r.rotateSecret, async ({ actor, project, params }) => {
    requireAdmin(actor, project)
    const rotation = { webhookId: Number(params.webhook_id), secretBox }
    const made = await database.transaction(tx => rotateSecret(tx, actor, project, rotation, now()))
    return { ...webhookToWire(made.webhook), secret: made.secret }
  })

  serve(r.test, async ({ actor, project, params }) => {
    requireAdmin(actor, project)
    const delivery = await database.transaction(async tx => {
      const webhook = await getWebhook(tx, project, Number(params.webhook_id))
      return tx.webhooks.addDelivery(testDelivery(webhook, actor, now()))
    })
    return send(delivery)
  })

  serve(r.listDeliveries, ({ actor, project, params, query, url }) => {
    requireAdmin(actor, project)
    return database.read(async tx => {
      const webhook = await getWebhook(tx, project, Number(params.webhook_id))
      const window = readWindow(query)
      return pageBody(await tx.webhooks.listDeliveries(webhook.id, window), window, url, deliveryToWire)
    })
  })

  serve(r.resend, async ({ actor, project, params }) => {
    requireAdmin(actor, project)
    const delivery = await database.read(async tx => {
      const webhook = await getWebhook(tx, project, Number(params.webhook_id))
      const stored = await tx.webhooks.findDelivery(webhook.id, Number(params.delivery_id))
      if (!stored) throw missing('Delivery')
      return stored
    })
    return send({ ...delivery, attempts: 0 })
  })
}
