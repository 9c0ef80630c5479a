import { type Plugin, pluginNameCharactersMax, routes } from '@halyard/contract'
import { Button, Group, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { scope } from '../plugin-queries.ts'
import { InstallSteps } from './install-steps.tsx'
import { useProgress } from './use-install-progress.ts'

/** Installs a plugin from a URL, or creates one to write here. */
export function InstallForm({ organizationId }: { organizationId: string }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const notify = useNotify()
  const [url, setUrl] = useState('')
  const refresh = () => queries.invalidateQueries({ queryKey: ['plugins', organizationId] })
  const open = (plugin: Plugin, tab: 'settings' | 'source') =>
    navigate({
      to: '/organization/$organizationId/plugins/$pluginId',
      params: { organizationId, pluginId: String(plugin.id) },
      search: { tab },
    })
  const install = useProgress(routes.plugins.install, async plugin => {
    notify.success({ message: t.plugins.installSucceeded(plugin.name) })
    await refresh()
  })
  const [isNaming, setIsNaming] = useState(false)
  const write = useMutation({
    mutationFn: (name: string) =>
      call(routes.plugins.create, {
        params: scope(organizationId),
        body: { plugin_type: 'source', name },
      }),
    onSuccess: async plugin => {
      setIsNaming(false)
      await refresh()
      await open(plugin, 'source')
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = { url: url.trim() }
    install.start({ params: scope(organizationId), body }, { onSuccess: plugin => open(plugin, 'settings') })
  }
  const atField = fieldProblem(t, install.error, 'url')
  return (
    <>
      {isNaming && (
        <NamePlugin
          error={write.error}
          isBusy={write.isPending}
          onName={write.mutate}
          onClose={() => setIsNaming(false)}
        />
      )}
      <Stack gap="sm" component="form" onSubmit={submit}>
        {!atField && <ProblemAlert error={install.error} />}
        <TextField
          label={t.plugins.url}
          description={t.plugins.urlHint}
          placeholder="https://www.npmjs.com/package/@posthog/taxonomy-plugin"
          required
          maw={560}
          value={url}
          error={atField}
          onChange={event => setUrl(event.currentTarget.value)}
        />
        <Group gap="xs">
          <Button type="submit" loading={install.isRunning}>
            {t.plugins.install}
          </Button>
          <Button variant="default" onClick={() => setIsNaming(true)}>
            {t.plugins.write}
          </Button>
        </Group>
        <InstallSteps progress={install} what={url} />
      </Stack>
    </>
  )
}

interface NameProps {
  error: unknown
  isBusy: boolean
  onName: (name: string) => void
  onClose: () => void
}

/** Nothing is stored until the plugin has a name. */
function NamePlugin({ error, isBusy, onName, onClose }: NameProps) {
  const t = useMessages()
  const [name, setName] = useState('')
  const atName = fieldProblem(t, error, 'name')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onName(name)
  }
  return (
    <Dialog title={t.plugins.write} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          {!atName && <ProblemAlert error={error} />}
          <TextField
            data-autofocus
            label={t.plugins.name}
            required
            maxLength={pluginNameCharactersMax}
            value={name}
            error={atName}
            onChange={event => setName(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={isBusy}>
              {t.plugins.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
