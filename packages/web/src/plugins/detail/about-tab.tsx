import { type Plugin, routes } from '@halyard/contract'
import { Alert, Badge, Button, Group, Stack, Switch, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Outside } from '../../ui/data/inline-markdown.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { InstallSteps } from '../install/install-steps.tsx'
import { useProgress } from '../install/use-install-progress.ts'
import { PluginChanges } from '../plugin-changes.tsx'
import { hasUpdate, scope } from '../plugin-queries.ts'
import type { PluginProps } from '../plugin-tabs.ts'

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
      {plugin.plugin_type !== 'source' && <Version {...props} />}
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
  const known = named.filter(name => words[name] !== undefined)
  const jobNames = Array.isArray(jobs) ? jobs : []
  if (known.length + jobNames.length === 0) return <Text size="sm">{t.plugins.noCapabilities}</Text>
  return (
    <ul style={{ margin: 0, paddingInlineStart: '1.2rem' }}>
      {known.map(name => (
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

function Version({ plugin, organizationId, isWritable }: PluginProps) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [tag, setTag] = useState('')
  const params = { ...scope(organizationId), id: String(plugin.id) }
  const refresh = () => queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
  const check = useMutation({
    mutationFn: () => call(routes.plugins.checkForUpdates, { params }),
    onSuccess: refresh,
  })
  const preview = useMutation({
    mutationFn: (wanted: string) =>
      call(routes.plugins.previewUpgrade, { params, query: wanted === '' ? {} : { tag: wanted } }),
  })
  const upgrade = useProgress(routes.plugins.upgrade, async ({ tag: now }) => {
    notify.success({ message: t.plugins.upgraded(now ?? plugin.name) })
    check.reset()
    preview.reset()
    await refresh()
  })
  const choose = (event: FormEvent) => {
    event.preventDefault()
    upgrade.start({ params, body: { tag: tag.trim() } })
  }
  const isLocal = plugin.plugin_type === 'local'
  const isPinned =
    plugin.url !== null && /\/(v|commit|archive)\/|\/releases\/tag\/|\/tree\/[0-9a-f]{40}/.test(plugin.url)
  return (
    <section>
      <Title order={2} mb="xs">
        {t.plugins.version}
      </Title>
      <Stack gap="sm">
        <Group gap="xs">
          <Text size="sm">
            {isLocal
              ? t.plugins.localHint
              : plugin.tag
                ? t.plugins.installedVersion(plugin.tag)
                : t.plugins.notDownloaded}
          </Text>
          {isPinned && (
            <Badge variant="light" color="gray">
              {t.plugins.pinned}
            </Badge>
          )}
          {!isLocal && !isPinned && plugin.latest_tag !== null && (
            <Badge variant="light" color={hasUpdate(plugin) ? 'yellow' : 'gray'}>
              {t.plugins.newestVersion(plugin.latest_tag ?? '')}
            </Badge>
          )}
        </Group>
        {isPinned && (
          <Text size="sm" c="dimmed">
            {t.plugins.pinnedHint}
          </Text>
        )}
        <div role="status">
          {check.data && (
            <Alert color={check.data.warning ? 'yellow' : 'gray'}>
              {check.data.warning ??
                (check.data.update_available ? t.plugins.newVersion(check.data.latest_tag ?? '') : t.plugins.upToDate)}
            </Alert>
          )}
        </div>
        <ProblemAlert error={check.error} />
        {!fieldProblem(t, upgrade.error, 'tag') && <ProblemAlert error={upgrade.error} />}
        {preview.data && (
          <section aria-label={t.plugins.preview}>
            <Text size="sm" fw={600} mb="xs">
              {t.plugins.fromTo(preview.data.from ?? '–', preview.data.to ?? '–')}
            </Text>
            {preview.data.changes.every(({ field }) => field === 'tag') ? (
              <Text size="sm">{t.plugins.noChanges}</Text>
            ) : (
              <PluginChanges isWhole changes={preview.data.changes.filter(({ field }) => field !== 'tag')} />
            )}
          </section>
        )}
        <ProblemAlert error={preview.error} />
        <Group gap="xs">
          {isWritable && (hasUpdate(plugin) || plugin.tag === null) && (
            <Button size="xs" loading={upgrade.isRunning} onClick={() => upgrade.start({ params, body: {} })}>
              {isLocal
                ? t.plugins.reload
                : plugin.tag === null
                  ? t.plugins.download
                  : t.plugins.upgrade(plugin.latest_tag ?? '')}
            </Button>
          )}
          {isWritable && hasUpdate(plugin) && (
            <Button size="xs" variant="default" loading={preview.isPending} onClick={() => preview.mutate('')}>
              {t.plugins.preview}
            </Button>
          )}
          {!isLocal && (
            <Button size="xs" variant="default" loading={check.isPending} onClick={() => check.mutate()}>
              {t.plugins.check}
            </Button>
          )}
        </Group>
        {isWritable && !isLocal && (
          <form onSubmit={choose}>
            <Group align="flex-end" gap="xs">
              <TextInput
                label={t.plugins.otherVersion}
                description={t.plugins.otherVersionHint}
                value={tag}
                onChange={event => setTag(event.currentTarget.value)}
                flex="1 1 200px"
                maw={360}
              />
              <Button type="submit" variant="default" disabled={tag.trim() === ''} loading={upgrade.isRunning}>
                {t.plugins.installVersion}
              </Button>
              <Button
                variant="default"
                disabled={tag.trim() === '' || upgrade.isRunning}
                loading={preview.isPending}
                aria-label={`${t.plugins.preview} ${t.plugins.otherVersion}: ${tag}`}
                onClick={() => preview.mutate(tag.trim())}
              >
                {t.plugins.preview}
              </Button>
            </Group>
          </form>
        )}
        <InstallSteps progress={upgrade} what={plugin.name} />
      </Stack>
    </section>
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
          done={t.plugins.uninstalled(plugin.name)}
          onConfirm={remove}
        />
      )}
    </section>
  )
}
