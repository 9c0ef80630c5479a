import { Text } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCurrentScope } from '../../services/current-scope.ts'
import { Page } from '../../ui/layout/page.tsx'
import { PageTabs } from '../../ui/layout/tabs.tsx'
import { ActivityList } from '../activity-list.tsx'
import { useIsPluginAdmin } from '../plugin-queries.ts'
import { type PluginListTab, pluginListTabs } from '../plugin-tabs.ts'
import { Catalog } from './catalog.tsx'
import { InstalledList } from './installed-list.tsx'
import { OrderList } from './order-list.tsx'

export function PluginsPage() {
  const t = useMessages()
  const { organizationId } = useParams({ from: '/shell/organization/$organizationId/plugins' })
  const { tab = 'installed' } = useSearch({ from: '/shell/organization/$organizationId/plugins' })
  const { projectId } = useCurrentScope()
  const isAdmin = useIsPluginAdmin(organizationId)
  const navigate = useNavigate()
  const open = (next: PluginListTab) =>
    navigate({
      to: '/organization/$organizationId/plugins',
      params: { organizationId },
      search: next === 'installed' ? {} : { tab: next },
    })
  const where = { organizationId, projectId, isAdmin }
  const tabs: Record<PluginListTab, { label: string; content: () => ReactNode }> = {
    installed: { label: t.plugins.installed, content: () => <InstalledList {...where} /> },
    order: {
      label: t.plugins.order,
      content: () =>
        projectId ? <OrderList {...where} projectId={projectId} /> : <Text size="sm">{t.plugins.noProject}</Text>,
    },
    catalog: { label: t.plugins.catalog, content: () => <Catalog {...where} /> },
    activity: { label: t.shell.activity, content: () => <ActivityList organizationId={organizationId} /> },
  }
  return (
    <Page title={t.shell.plugins} intro={t.plugins.intro}>
      <PageTabs label={t.shell.plugins} names={pluginListTabs} tabs={tabs} value={tab} onChange={open} />
    </Page>
  )
}
