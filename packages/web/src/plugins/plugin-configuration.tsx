import { type AnswerOf, type Plugin, routes } from '@halyard/contract'
import {
  Alert,
  Badge,
  Button,
  Group,
  NativeSelect,
  PasswordInput,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNotify } from '../app/notify.ts'
import { PlainTable } from '../app/plain-table.tsx'
import { Loaded, ProblemAlert } from '../app/problems.tsx'
import { useCall } from '../app/services.ts'
import { useFormats, useMessages } from '../messages/language.tsx'

type Config = AnswerOf<typeof routes.pluginConfigs.get>

interface Setting {
  readonly name?: string
  readonly type?: string
  readonly hint?: string
  readonly default?: unknown
  readonly required?: boolean
  readonly secret?: boolean
  readonly choices?: readonly string[]
}

interface Props {
  plugin: Plugin
  projectId: string
  isAdmin: boolean
}

/** The plugin in this project: its settings from its own schema, how it does, and what it says. */
export function PluginConfiguration({ plugin, projectId, isAdmin }: Props) {
  const call = useCall()
  const configs = useQuery({
    queryKey: ['plugin-configs', projectId],
    queryFn: async ({ signal }) =>
      (await call(routes.pluginConfigs.list, { params: { project_id: projectId }, query: { limit: '1000' }, signal }))
        .results,
  })
  return (
    <Loaded query={configs}>
      {all => {
        const config = all.find(each => each.plugin === plugin.id && !each.deleted)
        return (
          <Stack gap="xl">
            <Settings
              key={config?.updated_at ?? 'new'}
              plugin={plugin}
              config={config}
              projectId={projectId}
              isAdmin={isAdmin}
            />
            {config && <Health config={config} projectId={projectId} />}
          </Stack>
        )
      }}
    </Loaded>
  )
}

function Settings({ plugin, config, projectId, isAdmin }: Props & { config: Config | undefined }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const schema = Object.entries(plugin.config_schema as Record<string, Setting>).filter(
    ([, { type }]) => type !== 'attachment' && type !== undefined,
  )
  const [values, setValues] = useState<Record<string, unknown>>(() =>
    Object.fromEntries(
      schema.map(([key, setting]) => [key, setting.secret ? undefined : (config?.config[key] ?? setting.default)]),
    ),
  )
  const [isOn, setIsOn] = useState(config?.enabled ?? false)
  const save = useMutation({
    mutationFn: () => {
      const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
      const body = { enabled: isOn, config: given }
      if (config)
        return call(routes.pluginConfigs.update, { params: { project_id: projectId, id: String(config.id) }, body })
      return call(routes.pluginConfigs.create, {
        params: { project_id: projectId },
        body: { plugin: plugin.id, ...body },
      })
    },
    onSuccess: async () => {
      notify.tell({ message: t.editor.saved })
      await queries.invalidateQueries({ queryKey: ['plugin-configs', projectId] })
    },
  })
  return (
    <fieldset disabled={!isAdmin} style={{ border: 0, padding: 0, margin: 0 }}>
      <Stack maw={520}>
        <ProblemAlert error={save.error} />
        {config?.error && (
          <Alert color="red">
            {String((config.error as { message?: unknown }).message ?? t.common.somethingWrong)}
          </Alert>
        )}
        <Switch
          color="green"
          label={t.plugins.useHere}
          checked={isOn}
          onChange={event => setIsOn(event.currentTarget.checked)}
        />
        {schema.map(([key, setting]) => (
          <SettingField
            key={key}
            name={key}
            setting={setting}
            value={values[key]}
            onChange={value => setValues(old => ({ ...old, [key]: value }))}
          />
        ))}
        <Group>
          <Button loading={save.isPending} onClick={() => save.mutate()} disabled={!isAdmin}>
            {t.common.save}
          </Button>
        </Group>
      </Stack>
    </fieldset>
  )
}

function SettingField(props: { name: string; setting: Setting; value: unknown; onChange: (value: unknown) => void }) {
  const t = useMessages()
  const { name, setting, value, onChange } = props
  const field = {
    label: setting.name ?? name,
    description: setting.hint ?? '',
    required: setting.required === true && !setting.secret,
    withAsterisk: false,
  }
  const text = value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  if (setting.secret)
    return (
      <PasswordInput
        {...field}
        placeholder={t.plugins.secretStays}
        autoComplete="off"
        value={text}
        onChange={event => onChange(event.currentTarget.value)}
      />
    )
  if (setting.type === 'choice') {
    return (
      <NativeSelect
        {...field}
        value={text}
        onChange={event => onChange(event.currentTarget.value)}
        data={['', ...(setting.choices ?? [])]}
      />
    )
  }
  if (setting.type === 'json')
    return (
      <Textarea {...field} autosize minRows={2} value={text} onChange={event => onChange(event.currentTarget.value)} />
    )
  return <TextInput {...field} value={text} onChange={event => onChange(event.currentTarget.value)} />
}

function Health({ config, projectId }: { config: Config; projectId: string }) {
  const t = useMessages()
  const { count, moment } = useFormats()
  const call = useCall()
  const params = { project_id: projectId, id: String(config.id) }
  const metrics = useQuery({
    queryKey: ['plugin-metrics', projectId, config.id],
    queryFn: ({ signal }) => call(routes.pluginConfigs.metrics, { params, signal }),
  })
  const logs = useQuery({
    queryKey: ['plugin-logs', projectId, config.id],
    queryFn: async ({ signal }) =>
      (await call(routes.pluginConfigs.logs, { params, query: { limit: '50' }, signal })).results,
    refetchInterval: 5000,
  })
  return (
    <Stack>
      <Title order={2}>{t.plugins.lastDay}</Title>
      <Loaded query={metrics}>
        {({ calls, failures, dropped_events, cpu_seconds }) => (
          <Group>
            <Badge variant="light" color="gray" size="lg">
              {t.plugins.calls(count(calls))}
            </Badge>
            <Badge variant="light" color={failures > 0 ? 'red' : 'gray'} size="lg">
              {t.plugins.failures(count(failures))}
            </Badge>
            <Badge variant="light" color="gray" size="lg">
              {t.plugins.dropped(count(dropped_events))}
            </Badge>
            <Badge variant="light" color="gray" size="lg">
              {t.plugins.cpu(count(Math.round(cpu_seconds * 100) / 100))}
            </Badge>
          </Group>
        )}
      </Loaded>
      <Title order={2}>{t.plugins.logs}</Title>
      <Loaded query={logs}>
        {entries =>
          entries.length === 0 ? (
            <Text size="sm">{t.plugins.noLogs}</Text>
          ) : (
            <PlainTable
              label={t.plugins.logs}
              head={[t.plugins.when, t.flags.type, t.plugins.message]}
              rows={entries.map(entry => ({
                key: entry.id,
                cells: [moment(entry.timestamp), entry.type, entry.message],
              }))}
            />
          )
        }
      </Loaded>
    </Stack>
  )
}
