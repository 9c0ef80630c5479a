import { type Plugin, routes } from '@halyard/contract'
import { Alert, Badge, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { InstallSteps } from '../install/install-steps.tsx'
import { useProgress } from '../install/use-install-progress.ts'
import { PluginChanges } from '../plugin-changes.tsx'
import { hasUpdate, scope } from '../plugin-queries.ts'
import type { PluginProps } from '../plugin-tabs.ts'

/** The installed version, the newest one, and upgrading to either or to any other. */
export function VersionSection({ plugin, organizationId, isWritable }: PluginProps) {
  const t = useMessages()
  const versions = useVersions(plugin, organizationId)
  const { check, preview, upgrade } = versions
  const isLocal = plugin.plugin_type === 'local'
  return (
    <section>
      <Title order={2} mb="xs">
        {t.plugins.version}
      </Title>
      <Stack gap="sm">
        <InstalledVersion plugin={plugin} />
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
        <UpgradePreview preview={preview} />
        <Group gap="xs">
          {isWritable && (hasUpdate(plugin) || plugin.tag === null) && (
            <Button size="xs" loading={upgrade.isRunning} onClick={() => versions.upgradeTo()}>
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
        {isWritable && !isLocal && <OtherVersion versions={versions} />}
        <InstallSteps progress={upgrade} what={plugin.name} />
      </Stack>
    </section>
  )
}

function useVersions(plugin: Plugin, organizationId: string) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
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
  /** Without a tag, to the newest version. */
  const upgradeTo = (tag?: string) => upgrade.start({ params, body: tag === undefined ? {} : { tag } })
  return { check, preview, upgrade, upgradeTo }
}

type Versions = ReturnType<typeof useVersions>

function InstalledVersion({ plugin }: { plugin: Plugin }) {
  const t = useMessages()
  const isLocal = plugin.plugin_type === 'local'
  const isPinned =
    plugin.url !== null && /\/(v|commit|archive)\/|\/releases\/tag\/|\/tree\/[0-9a-f]{40}/.test(plugin.url)
  return (
    <>
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
    </>
  )
}

function UpgradePreview({ preview: { data, error } }: Pick<Versions, 'preview'>) {
  const t = useMessages()
  return (
    <>
      {data && (
        <section aria-label={t.plugins.preview}>
          <Text size="sm" fw={600} mb="xs">
            {t.plugins.fromTo(data.from ?? '–', data.to ?? '–')}
          </Text>
          {data.changes.every(({ field }) => field === 'tag') ? (
            <Text size="sm">{t.plugins.noChanges}</Text>
          ) : (
            <PluginChanges isWhole changes={data.changes.filter(({ field }) => field !== 'tag')} />
          )}
        </section>
      )}
      <ProblemAlert error={error} />
    </>
  )
}

function OtherVersion({ versions: { preview, upgrade, upgradeTo } }: { versions: Versions }) {
  const t = useMessages()
  const [tag, setTag] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    upgradeTo(tag.trim())
  }
  return (
    <form onSubmit={submit}>
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
  )
}
