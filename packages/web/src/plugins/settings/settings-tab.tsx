import { type Plugin, routes } from '@halyard/contract'
import { Alert, Button, Group, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import type { Messages } from '../../i18n/en.ts'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useProject } from '../../services/session-queries.ts'
import { InlineMarkdown } from '../../ui/data/inline-markdown.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { combineQueries, Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { type PluginConfig, sourceQuery, useConfigs } from '../plugin-queries.ts'
import type { ProjectPluginProps } from '../plugin-tabs.ts'
import { AttachmentField } from './attachment-field.tsx'
import { HostsField, wantedHosts } from './hosts-field.tsx'
import { SecretField } from './secret-field.tsx'
import { SettingField } from './setting-field.tsx'
import { isNeeded, isSetting, isVisible, readSchema, type Setting, validateSettings } from './setting-rules.ts'
import { bodyOf, draftOf, isFile, isSecretText, isStored, type SettingsDraft, valuesOf } from './settings-draft.ts'

/** The plugin in this project: enabled, settings from its schema, and allowed hosts. */
export function SettingsTab(props: ProjectPluginProps) {
  const call = useCall()
  const source = useQuery(sourceQuery(call, props.organizationId, props.plugin))
  const query = combineQueries({ configs: useConfigs(props.projectId), source })
  return (
    <Loaded query={query}>
      {({ configs, source: files }) => (
        <SettingsForm
          key={props.plugin.tag}
          {...props}
          config={configs.find(each => each.plugin === props.plugin.id)}
          wanted={wantedHosts(files['plugin.json'])}
        />
      )}
    </Loaded>
  )
}

interface FormProps extends ProjectPluginProps {
  config: PluginConfig | undefined
  wanted: readonly string[]
}

function SettingsForm({ plugin, projectId, isAdmin, config: newest, wanted }: FormProps) {
  const t = useMessages()
  const project = useProject(projectId)
  const items = readSchema(plugin.config_schema)
  const settings = items.filter(isSetting)
  const { draft, set, config, begin, isOutdated, isDirty, hasTried, setHasTried } = useSettingsDraft(settings, newest)
  const save = useSave(plugin, projectId, config, begin)
  const values = valuesOf(draft)
  const errors = validateSettings(settings, values)
  const errorAt = (key: string): string | undefined => {
    const error = hasTried ? errors.get(key) : undefined
    return error ? t.plugins.settingErrors[error] : fieldProblem(t, save.error, `config__${key}`)
  }
  const submit = () => {
    setHasTried(true)
    if (errors.size === 0) save.mutate(bodyOf(settings, draft, config))
  }
  return (
    <fieldset disabled={!isAdmin} style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}>
      <Stack maw={560}>
        {!isAtField(save.error, settings) && <ProblemAlert error={save.error} />}
        <SwitchedOff config={newest} />
        {isOutdated && isDirty && !save.isPending && (
          <Alert color="yellow" role="alert">
            <Group justify="space-between">
              {t.plugins.changedMeanwhile}
              <Button variant="default" size="xs" onClick={() => begin(newest)}>
                {t.plugins.showTheirs}
              </Button>
            </Group>
          </Alert>
        )}
        {!isAdmin && <Alert color="gray">{t.plugins.adminsConfigure}</Alert>}
        <Switch
          color="green"
          label={t.plugins.useIn(project?.name ?? '')}
          description={stateHint(t, draft.isOn, config?.enabled ?? false)}
          checked={draft.isOn}
          onChange={event => set({ isOn: event.currentTarget.checked })}
        />
        {settings.length === 0 && (
          <Text size="sm" c="dimmed">
            {t.plugins.noSettings}
          </Text>
        )}
        {items.map(item =>
          !isSetting(item) ? (
            <Text key={item.key} size="sm" style={{ whiteSpace: 'pre-line' }}>
              <InlineMarkdown text={item.markdown} />
            </Text>
          ) : (
            isVisible(item, values) && (
              <Field
                key={item.key}
                setting={item}
                isNeeded={isNeeded(item, values)}
                draft={draft}
                config={config}
                error={errorAt(item.key)}
                onChange={set}
              />
            )
          ),
        )}
        <HostsField
          wanted={wanted}
          granted={draft.hosts}
          error={fieldProblem(t, save.error, 'allowed_hosts')}
          onChange={hosts => set({ hosts })}
        />
        {draft.isOn && wanted.length > 0 && draft.hosts.length === 0 && (
          <Text size="sm" c="var(--mantine-color-yellow-light-color)" role="status">
            {t.plugins.noHostGranted}
          </Text>
        )}
        {hasTried && errors.size > 0 && (
          <Text size="sm" c="red" role="alert">
            {t.plugins.settingsInvalid(errors.size)}
          </Text>
        )}
        <Group>
          <Button loading={save.isPending} onClick={submit}>
            {t.common.save}
          </Button>
        </Group>
      </Stack>
    </fieldset>
  )
}

/**
 * The draft and the configuration it started from. A newer configuration replaces both at once only while nothing has
 * been typed.
 */
function useSettingsDraft(settings: readonly Setting[], newest: PluginConfig | undefined) {
  const [config, setConfig] = useState(newest)
  const [draft, setDraft] = useState(() => draftOf(settings, newest))
  const [hasTried, setHasTried] = useState(false)
  const begin = (from: PluginConfig | undefined) => {
    setConfig(from)
    setDraft(draftOf(settings, from))
    setHasTried(false)
  }
  const isDirty = JSON.stringify(draft) !== JSON.stringify(draftOf(settings, config))
  const isOutdated = newest?.updated_at !== config?.updated_at
  if (isOutdated && !isDirty) begin(newest)
  const set = (change: Partial<SettingsDraft>) => setDraft(old => ({ ...old, ...change }))
  return { draft, set, config, begin, isOutdated, isDirty, hasTried, setHasTried }
}

function stateHint({ plugins: t }: Messages, isOn: boolean, isRunning: boolean): string {
  if (isOn) return isRunning ? t.runsHint : t.willRunHint
  return isRunning ? t.willStopHint : t.offHint
}

/** Whether a visible field shows this problem itself. */
function isAtField(error: unknown, settings: readonly Setting[]): boolean {
  if (!isProblem(error) || error.field === null) return false
  return error.field === 'allowed_hosts' || settings.some(({ key }) => error.field === `config__${key}`)
}

function SwitchedOff({ config }: { config: PluginConfig | undefined }) {
  const t = useMessages()
  const { moment } = useFormats()
  if (!config?.error) return null
  const { message, time } = config.error as { message?: string; time?: string }
  return (
    <Alert color="red" title={t.plugins.disabledTitle}>
      {message ?? t.common.somethingWrong}
      {time && ` (${moment(time)})`}
    </Alert>
  )
}

interface FieldProps {
  setting: Setting
  isNeeded: boolean
  draft: SettingsDraft
  config: PluginConfig | undefined
  error: string | undefined
  onChange: (change: Partial<SettingsDraft>) => void
}

function Field({ setting, isNeeded: needed, draft, config, error, onChange }: FieldProps) {
  const { key } = setting
  const shared = { setting, isNeeded: needed, error }
  if (isFile(setting)) {
    return (
      <AttachmentField
        {...shared}
        value={draft.files[key]}
        onChange={file => onChange({ files: { ...draft.files, [key]: file } })}
      />
    )
  }
  if (isSecretText(setting)) {
    return (
      <SecretField
        {...shared}
        isStored={isStored(config, key)}
        value={draft.secrets[key] ?? { kind: 'new', text: '' }}
        onChange={secret => onChange({ secrets: { ...draft.secrets, [key]: secret } })}
      />
    )
  }
  return (
    <SettingField
      {...shared}
      value={draft.texts[key] ?? ''}
      onChange={text => onChange({ texts: { ...draft.texts, [key]: text } })}
    />
  )
}

function useSave(
  plugin: Plugin,
  projectId: string,
  config: PluginConfig | undefined,
  onSaved: (config: PluginConfig) => void,
) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { project_id: projectId }
  return useMutation({
    mutationFn: (body: ReturnType<typeof bodyOf>) =>
      config
        ? call(routes.pluginConfigs.update, { params: { ...params, id: String(config.id) }, body })
        : call(routes.pluginConfigs.create, { params, body: { plugin: plugin.id, ...body } }),
    onSuccess: async saved => {
      queries.setQueryData<PluginConfig[]>(['plugin-configs', projectId], (old = []) =>
        old.some(({ id }) => id === saved.id)
          ? old.map(each => (each.id === saved.id ? saved : each))
          : [...old, saved],
      )
      onSaved(saved)
      notify.success({ message: saved.enabled ? t.plugins.savedOn(plugin.name) : t.plugins.savedOff(plugin.name) })
      await queries.invalidateQueries({ queryKey: ['plugin-configs', projectId] })
    },
  })
}
