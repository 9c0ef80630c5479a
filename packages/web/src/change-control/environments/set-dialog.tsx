import { type EnvironmentSet, environmentsMax, routes } from '@halyard/contract'
import { ActionIcon, Button, Group, NativeSelect, Switch, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { setsKey } from '../../flags/environments/environment-queries.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useProjects } from '../../services/session-queries.ts'
import { FormDialog } from '../../ui/dialog/form-dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { TextField } from '../../ui/form/text-field.tsx'
import { TrashIcon } from '../../ui/icons.tsx'

interface Row {
  readonly id: number
  readonly name: string
  /** Empty: a new project. */
  readonly project: string
  readonly isProduction: boolean
}

const defaults: readonly Row[] = [
  { id: 1, name: 'development', project: '', isProduction: false },
  { id: 2, name: 'production', project: '', isProduction: true },
]

const rowsOf = ({ environments }: EnvironmentSet): readonly Row[] =>
  environments.map(({ name, project, is_production }, index) => ({
    id: index + 1,
    name,
    project: String(project),
    isProduction: is_production,
  }))

const rowToWire = ({ name, project, isProduction }: Row) => ({
  name,
  is_production: isProduction,
  ...(project !== '' && { project: Number(project) }),
})

interface Props {
  organizationId: string
  /** Undefined for a new set. */
  set: EnvironmentSet | undefined
  onClose: () => void
}

/** The environments of an application, in their order: existing projects or new ones. */
export function SetDialog({ organizationId, set, onClose }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const projects = (useProjects().data ?? []).filter(({ organization }) => organization === organizationId)
  const [name, setName] = useState(set?.name ?? '')
  const [rows, setRows] = useState(set ? rowsOf(set) : defaults)
  const change = (id: number, fields: Partial<Row>) =>
    setRows(old => old.map(row => (row.id === id ? { ...row, ...fields } : row)))
  const save = useMutation({
    mutationFn: () => {
      const body = { name, environments: rows.map(rowToWire) }
      const params = { parent_lookup_organization_id: organizationId }
      return set
        ? call(routes.environments.update, { params: { ...params, set_id: String(set.id) }, body })
        : call(routes.environments.create, { params, body })
    },
    onSuccess: async saved => {
      notify.success({ message: t.environments.saved(saved.name) })
      await Promise.all([
        queries.invalidateQueries({ queryKey: setsKey(organizationId) }),
        queries.invalidateQueries({ queryKey: ['projects'] }),
      ])
      onClose()
    },
  })
  const add = () =>
    setRows(old => [
      ...old,
      { id: Math.max(0, ...old.map(({ id }) => id)) + 1, name: '', project: '', isProduction: false },
    ])
  return (
    <FormDialog
      size="lg"
      title={set ? t.environments.editTitle : t.environments.createTitle}
      label={t.common.save}
      error={save.error}
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label={t.environments.name}
        data-autofocus
        required
        maxLength={200}
        value={name}
        onChange={event => setName(event.currentTarget.value)}
      />
      {rows.map((row, index) => (
        <EnvironmentFields
          key={row.id}
          row={row}
          label={t.environments.environment(index + 1)}
          projects={projects}
          isOnly={rows.length === 1}
          onChange={fields => change(row.id, fields)}
          onRemove={() => setRows(old => old.filter(({ id }) => id !== row.id))}
        />
      ))}
      <Text size="sm" c="dimmed">
        {t.environments.productionHint}
      </Text>
      <Group>
        <Button variant="default" size="xs" disabled={rows.length >= environmentsMax} onClick={add}>
          {t.environments.add}
        </Button>
      </Group>
    </FormDialog>
  )
}

interface FieldsProps {
  row: Row
  label: string
  projects: readonly { readonly id: number; readonly name: string }[]
  isOnly: boolean
  onChange: (fields: Partial<Row>) => void
  onRemove: () => void
}

function EnvironmentFields({ row, label, projects, isOnly, onChange, onRemove }: FieldsProps) {
  const t = useMessages()
  return (
    <Group role="group" aria-label={label} align="flex-end" gap="xs">
      <TextField
        label={t.environments.environmentName}
        required
        maxLength={100}
        value={row.name}
        onChange={event => onChange({ name: event.currentTarget.value })}
        flex="1 1 8rem"
      />
      <NativeSelect
        label={t.environments.project}
        value={row.project}
        onChange={event => onChange({ project: event.currentTarget.value })}
        data={[
          { value: '', label: t.environments.newProject },
          ...projects.map(({ id, name }) => ({ value: String(id), label: name })),
        ]}
        flex="2 1 12rem"
      />
      <Switch
        label={t.environments.isProduction}
        checked={row.isProduction}
        onChange={event => onChange({ isProduction: event.currentTarget.checked })}
        pb={8}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        disabled={isOnly}
        aria-label={t.environments.removeEnvironment(row.name || label)}
        onClick={onRemove}
      >
        <TrashIcon size={16} />
      </ActionIcon>
    </Group>
  )
}
