import { type Plugin, routes } from '@halyard/contract'
import { Button, Group, Tabs, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useOrganizations } from '../api/queries.ts'
import { ConfirmButton } from '../app/confirm-button.tsx'
import { useNotify } from '../app/notify.ts'
import { Page } from '../app/page.tsx'
import { Loaded } from '../app/problems.tsx'
import { useCall } from '../app/services.ts'
import { useMessages } from '../messages/language.tsx'
import { useWhere } from '../shell/navigation.tsx'
import { PluginConfiguration } from './plugin-configuration.tsx'
import { PluginSource } from './plugin-source.tsx'

const adminLevel = 8

export function PluginPage() {
  const t = useMessages()
  const { organizationId, pluginId } = useParams({ from: '/shell/organization/$organizationId/plugins/$pluginId' })
  const { projectId } = useWhere()
  const call = useCall()
  const isAdmin =
    (useOrganizations().data?.find(({ id }) => id === organizationId)?.membership_level ?? 0) >= adminLevel
  const plugin = useQuery({
    queryKey: ['plugins', organizationId, pluginId],
    queryFn: ({ signal }) =>
      call(routes.plugins.get, { params: { parent_lookup_organization_id: organizationId, id: pluginId }, signal }),
  })
  return (
    <Loaded query={plugin}>
      {known => (
        <Page
          title={known.name}
          intro={known.description || t.plugins.types[known.plugin_type]}
          actions={isAdmin && <Actions plugin={known} organizationId={organizationId} />}
        >
          <Tabs defaultValue={known.plugin_type === 'source' ? 'source' : 'configuration'} keepMounted={false}>
            <Tabs.List mb="lg">
              <Tabs.Tab value="configuration">{t.plugins.configuration}</Tabs.Tab>
              <Tabs.Tab value="source">{t.plugins.source}</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="configuration">
              {projectId && <PluginConfiguration plugin={known} projectId={projectId} isAdmin={isAdmin} />}
            </Tabs.Panel>
            <Tabs.Panel value="source">
              <PluginSource plugin={known} organizationId={organizationId} isAdmin={isAdmin} />
            </Tabs.Panel>
          </Tabs>
        </Page>
      )}
    </Loaded>
  )
}

function Actions({ plugin, organizationId }: { plugin: Plugin; organizationId: string }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const notify = useNotify()
  const params = { parent_lookup_organization_id: organizationId, id: String(plugin.id) }
  const refresh = () => queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
  const check = useMutation({
    mutationFn: () => call(routes.plugins.checkForUpdates, { params }),
    onSuccess: async ({ update_available, latest_tag, warning }) => {
      notify.tell({
        message: warning ?? (update_available ? t.plugins.newVersion(latest_tag ?? '') : t.plugins.upToDate),
        color: 'gray',
      })
      await refresh()
    },
    onError: error => notify.fail(error, plugin.name),
  })
  const upgrade = useMutation({
    mutationFn: () => call(routes.plugins.upgrade, { params }),
    onSuccess: async ({ tag }) => {
      notify.tell({ message: t.plugins.upgraded(tag ?? '') })
      await refresh()
    },
    onError: error => notify.fail(error, plugin.name),
  })
  const remove = async () => {
    await call(routes.plugins.remove, { params })
    await navigate({ to: '/organization/$organizationId/plugins', params: { organizationId } })
    await refresh()
  }
  const hasUpdate = plugin.latest_tag !== null && plugin.latest_tag !== plugin.tag
  return (
    <Group gap="xs">
      {plugin.tag && (
        <Text size="sm" c="dimmed">
          {plugin.tag}
        </Text>
      )}
      {plugin.plugin_type !== 'source' &&
        (hasUpdate ? (
          <Button size="xs" loading={upgrade.isPending} onClick={() => upgrade.mutate()}>
            {t.plugins.upgrade(plugin.latest_tag ?? '')}
          </Button>
        ) : (
          <Button size="xs" variant="default" loading={check.isPending} onClick={() => check.mutate()}>
            {t.plugins.check}
          </Button>
        ))}
      <ConfirmButton
        label={t.plugins.uninstall}
        question={t.plugins.uninstallQuestion(plugin.name)}
        onConfirm={remove}
      />
    </Group>
  )
}
