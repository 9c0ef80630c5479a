import { type AnswerOf, type Plugin, routes } from '@halyard/contract'
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Call } from '../api/client.ts'
import { isAdmin } from '../services/permissions.ts'
import { useCall } from '../services/services.ts'
import { useMembershipLevel } from '../services/session-queries.ts'

export type PluginConfig = AnswerOf<typeof routes.pluginConfigs.get>
/** With what the organization has accepted of a plugin of another one. */
export type UsedPlugin = AnswerOf<typeof routes.plugins.get>

const all = '1000'

export const scope = (organizationId: string) => ({ parent_lookup_organization_id: organizationId })

/** Only admins can install, write and configure plugins. */
export const useIsPluginAdmin = (organizationId: string): boolean => isAdmin(useMembershipLevel(organizationId))

export function usePlugins(organizationId: string) {
  const call = useCall()
  return useQuery({
    queryKey: ['plugins', organizationId],
    queryFn: async ({ signal }) =>
      (await call(routes.plugins.list, { params: scope(organizationId), query: { limit: all }, signal })).results,
  })
}

/** The plugin configurations of a project in processing order; empty without a project. */
export function useConfigs(projectId: string | undefined) {
  const call = useCall()
  return useQuery({
    queryKey: ['plugin-configs', projectId],
    queryFn: async ({ signal }) => {
      if (projectId === undefined) return []
      const params = { project_id: projectId }
      const { results } = await call(routes.pluginConfigs.list, { params, query: { limit: all }, signal })
      return results.filter(config => !config.deleted)
    },
  })
}

/** File name → text, of the installed version. */
export const sourceQuery = (call: Call, organizationId: string, plugin: Plugin) =>
  queryOptions({
    queryKey: ['plugin-source', organizationId, plugin.id, plugin.tag],
    queryFn: async ({ signal }) => {
      const params = { ...scope(organizationId), id: String(plugin.id) }
      return (await call(routes.plugins.source, { params, signal })).source as Readonly<Record<string, string>>
    },
  })

export const hasUpdate = ({ tag, latest_tag }: Plugin): boolean =>
  tag !== null && latest_tag !== null && latest_tag !== tag

/** Whether another organization's plugin runs here in an earlier version. */
export const needsAcceptance = (plugin: UsedPlugin, organizationId: string): boolean =>
  plugin.organization_id !== organizationId &&
  plugin.update_available === true &&
  typeof plugin.accepted_release === 'string'
