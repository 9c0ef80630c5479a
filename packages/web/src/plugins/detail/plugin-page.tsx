import { routes } from '@halyard/contract'
import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCurrentScope } from '../../services/current-scope.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { Loaded } from '../../ui/feedback/problems.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageTabs } from '../../ui/layout/tabs.tsx'
import { useIsOpening } from '../../ui/layout/visibility-context.ts'
import { ActivityList } from '../activity-list.tsx'
import { JobsTab } from '../jobs/jobs-tab.tsx'
import { hasUpdate, type PluginConfig, scope, useConfigs, useIsPluginAdmin } from '../plugin-queries.ts'
import {
  type ConfiguredProps,
  type PluginProps,
  type PluginTab,
  type ProjectPluginProps,
  pluginTabs,
} from '../plugin-tabs.ts'
import { SettingsTab } from '../settings/settings-tab.tsx'
import { SourceTab } from '../source/source-tab.tsx'
import { AboutTab } from './about-tab.tsx'
import { LogTab } from './log-tab.tsx'
import { MetricsTab } from './metrics-tab.tsx'
import { ReleaseBanner } from './release-banner.tsx'

export function PluginPage() {
  const { organizationId, pluginId } = useParams({ from: '/shell/organization/$organizationId/plugins/$pluginId' })
  const isAdmin = useIsPluginAdmin(organizationId)
  const { projectId } = useCurrentScope()
  const plugin = useApiQuery(['plugins', organizationId, pluginId], routes.plugins.get, {
    params: { ...scope(organizationId), id: pluginId },
  })
  const configs = useConfigs(projectId)
  const isOpening = useIsOpening(configs.isPending)
  return (
    <Loaded query={{ ...plugin, data: isOpening ? undefined : plugin.data, refetch: plugin.refetch }}>
      {loaded => (
        <PluginWithTabs
          plugin={loaded}
          config={configs.data?.find(each => each.plugin === loaded.id)}
          projectId={projectId}
          organizationId={organizationId}
          isAdmin={isAdmin}
          isWritable={isAdmin && loaded.organization_id === organizationId}
        />
      )}
    </Loaded>
  )
}

interface TabsProps extends PluginProps {
  projectId: string | undefined
  config: PluginConfig | undefined
}

function PluginWithTabs({ projectId, config, ...props }: TabsProps) {
  const { plugin, organizationId, isWritable } = props
  const t = useMessages()
  const navigate = useNavigate()
  const { tab = 'settings' } = useSearch({ from: '/shell/organization/$organizationId/plugins/$pluginId' })
  const open = (next: PluginTab) =>
    navigate({
      to: '/organization/$organizationId/plugins/$pluginId',
      params: { organizationId, pluginId: String(plugin.id) },
      search: next === 'settings' ? {} : { tab: next },
    })
  const inProject = (content: (props: ProjectPluginProps) => ReactNode) =>
    projectId ? content({ ...props, projectId }) : <Text size="sm">{t.plugins.noProject}</Text>
  const configured = (content: (props: ConfiguredProps) => ReactNode) =>
    inProject(tabProps => (config ? content({ ...tabProps, config }) : <NotUsed onOpen={() => open('settings')} />))
  const tabs: Record<PluginTab, { label: string; content: () => ReactNode }> = {
    settings: { label: t.plugins.settings, content: () => inProject(tabProps => <SettingsTab {...tabProps} />) },
    source: { label: t.plugins.source, content: () => <SourceTab {...props} /> },
    log: { label: t.plugins.logs, content: () => configured(tabProps => <LogTab {...tabProps} />) },
    metrics: { label: t.plugins.metricsTab, content: () => configured(tabProps => <MetricsTab {...tabProps} />) },
    jobs: { label: t.plugins.jobs, content: () => configured(tabProps => <JobsTab {...tabProps} />) },
    activity: {
      label: t.shell.activity,
      content: () => <ActivityList organizationId={organizationId} pluginId={plugin.id} />,
    },
    about: { label: t.plugins.about, content: () => <AboutTab {...props} /> },
  }
  return (
    <Page
      title={plugin.name}
      parents={[{ label: t.shell.plugins, to: `/organization/${organizationId}/plugins` }]}
      intro={plugin.description || t.plugins.types[plugin.plugin_type]}
      actions={
        <Group gap="xs">
          {config?.enabled && (
            <Badge variant="light" color="green">
              {t.plugins.on}
            </Badge>
          )}
          {isWritable && hasUpdate(plugin) && tab !== 'about' && (
            <Button size="xs" variant="light" onClick={() => open('about')}>
              {t.plugins.updateTo(plugin.latest_tag ?? '')}
            </Button>
          )}
        </Group>
      }
    >
      <ReleaseBanner plugin={plugin} organizationId={organizationId} isAdmin={props.isAdmin} />
      <PageTabs label={plugin.name} names={pluginTabs} tabs={tabs} value={tab} onChange={open} />
    </Page>
  )
}

function NotUsed({ onOpen }: { onOpen: () => void }) {
  const t = useMessages()
  return (
    <Stack align="flex-start">
      <Text size="sm">{t.plugins.notUsed}</Text>
      <Button size="xs" variant="default" onClick={onOpen}>
        {t.plugins.toSettings}
      </Button>
    </Stack>
  )
}
