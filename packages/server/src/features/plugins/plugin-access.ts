import { forbidden, missing } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import { type Actor, adminLevel, type Organization, requireLevel } from '../../tenancy.ts'
import type { Plugin } from './plugin.ts'

/** What an organization may do with plugins at all: 0 nothing, 3 configure, 6 install, 9 also publish to every organization. */
export const configLevel = 3
export const installLevel = 6
export const rootLevel = 9

/** Raises `forbidden` when the organization may not use plugins. */
export function requireCanRead(organization: Organization): void {
  if (organization.pluginsAccessLevel < configLevel) throw forbidden('This organization cannot use plugins.')
}

/** Raises `forbidden` when the organization may not install plugins, or the actor is no admin of it. */
export function requireCanWrite(actor: Actor, organization: Organization): void {
  requireCanRead(organization)
  if (organization.pluginsAccessLevel < installLevel) {
    throw forbidden('This organization can configure plugins, but cannot install or change them.')
  }
  requireLevel(actor, organization.id, adminLevel, 'install or change plugins')
}

/** Sharing with other organizations, or taking it back, is for organizations that were trusted with it. */
export function requireCanShare(organization: Organization): void {
  if (organization.pluginsAccessLevel < rootLevel) throw forbidden('This organization cannot manage global plugins.')
}

/** Own, global, or configured in one of the organization's projects; raises `missing` for any other. */
export async function getVisible(tx: Stores, organization: Organization, id: number): Promise<Plugin> {
  const plugin = await tx.plugins.findVisible(organization.id, id)
  if (!plugin) throw missing('Plugin')
  return plugin
}

/** For writing. Raises `missing` when the plugin is not visible, and `forbidden` when the organization may not change it. */
export async function getOwn(tx: Stores, organization: Organization, id: number): Promise<Plugin> {
  const plugin = await getVisible(tx, organization, id)
  if (plugin.organizationId !== organization.id) throw forbidden('This plugin is managed by another organization.')
  if (plugin.isGlobal) requireCanShare(organization)
  return plugin
}

interface Writing {
  readonly actor: Actor
  readonly organization: Organization
  readonly params: { readonly id: string }
}

/** Looked up before the body is read: an unknown plugin is 404 and a forbidden one 403, whatever is sent. */
export function getWritable(database: Database, { actor, organization, params }: Writing): Promise<Plugin> {
  requireCanWrite(actor, organization)
  return database.read(tx => getOwn(tx, organization, Number(params.id)))
}
