import { type Plugin, routes } from '@halyard/contract'
import { Stack, Switch, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Outside } from '../../ui/data/inline-markdown.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { scope } from '../plugin-queries.ts'
import type { PluginProps } from '../plugin-tabs.ts'
import { VersionSection } from './version-section.tsx'

/** What the plugin does, its origin, its version, and uninstalling. */
export function AboutTab(props: PluginProps) {
  const { plugin, isWritable } = props
  const t = useMessages()
  return (
    <Stack gap="xl" maw={640}>
      <section>
        <Title order={2} mb="xs">
          {t.plugins.capabilitiesTitle}
        </Title>
        <Abilities plugin={plugin} />
      </section>
      <section>
        <Title order={2} mb="xs">
          {t.plugins.origin}
        </Title>
        <Text size="sm">{t.plugins.types[plugin.plugin_type]}</Text>
        {plugin.url !== null && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {plugin.url.startsWith('http') ? <Outside address={plugin.url} label={plugin.url} /> : plugin.url}
          </Text>
        )}
        <Text size="sm" c="dimmed">
          {t.plugins.ownedBy(plugin.organization_name)}
        </Text>
      </section>
      {plugin.plugin_type !== 'source' && <VersionSection {...props} />}
      {isWritable && <Sharing {...props} />}
      {isWritable && <Removal {...props} />}
    </Stack>
  )
}

function Abilities({ plugin }: { plugin: Plugin }) {
  const t = useMessages()
  const words: Record<string, string> = t.plugins.capabilities
  const { methods, scheduled_tasks: tasks, jobs } = plugin.capabilities as Record<string, unknown>
  const named = [methods, tasks].flatMap(list => (Array.isArray(list) ? list : []))
  const described = named.filter(name => words[name] !== undefined)
  const jobNames = Array.isArray(jobs) ? jobs : []
  if (described.length + jobNames.length === 0) return <Text size="sm">{t.plugins.noCapabilities}</Text>
  return (
    <ul style={{ margin: 0, paddingInlineStart: '1.2rem' }}>
      {described.map(name => (
        <Text key={name} component="li" size="sm">
          {words[name]}
        </Text>
      ))}
      {jobNames.length > 0 && (
        <Text component="li" size="sm">
          {t.plugins.hasJobs(jobNames.join(', '))}
        </Text>
      )}
    </ul>
  )
}

function Sharing({ plugin, organizationId }: PluginProps) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const share = useMutation({
    mutationFn: (is_global: boolean) =>
      call(routes.plugins.update, {
        params: { ...scope(organizationId), id: String(plugin.id) },
        body: { is_global },
      }),
    onSuccess: ({ is_global, name }) => {
      notify.success({ message: is_global ? t.plugins.shared(name) : t.plugins.unshared(name) })
      return queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
    },
    onError: error => notify.fail(error, plugin.name),
  })
  return (
    <section>
      <Title order={2} mb="xs">
        {t.plugins.sharing}
      </Title>
      <Switch
        label={t.plugins.shareAll}
        description={t.plugins.shareHint}
        checked={plugin.is_global}
        disabled={share.isPending}
        onChange={event => share.mutate(event.currentTarget.checked)}
      />
    </section>
  )
}

function Removal({ plugin, organizationId }: PluginProps) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await call(routes.plugins.remove, { params: { ...scope(organizationId), id: String(plugin.id) } })
    await navigate({ to: '/organization/$organizationId/plugins', params: { organizationId } })
    await queries.invalidateQueries({ queryKey: ['plugins', organizationId], refetchType: 'active' })
  }
  return (
    <section>
      <Title order={2} mb="xs">
        {t.plugins.uninstall}
      </Title>
      <Text size="sm" mb="xs">
        {plugin.is_global ? t.plugins.uninstallShared : t.plugins.uninstallHint}
      </Text>
      {!plugin.is_global && (
        <ConfirmButton
          variant="light"
          size="xs"
          label={t.plugins.uninstall}
          question={t.plugins.uninstallQuestion(plugin.name)}
          detail={t.plugins.uninstallDetail}
          done={t.plugins.uninstalled(plugin.name)}
          onConfirm={remove}
        />
      )}
    </section>
  )
}
