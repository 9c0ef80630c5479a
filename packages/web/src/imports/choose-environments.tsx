import { Alert, Checkbox, NativeSelect, Stack } from '@mantine/core'
import { useEffect } from 'react'
import { useEnvironmentSets } from '../flags/environments/environment-queries.ts'
import { useMessages } from '../i18n/language.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { defaultChoice, type EnvironmentChoice, intoSet } from './environment-choice.ts'

interface Props {
  project: { readonly id: number; readonly organization: string }
  /** Of the file. */
  environments: readonly string[]
  choice: EnvironmentChoice | undefined
  onChange: (choice: EnvironmentChoice) => void
}

/** Where each environment of the file goes: into this project, an environment set, or a new one. */
export function ChooseEnvironments({ project, environments, choice, onChange }: Props) {
  const t = useMessages()
  const { data: sets = [], isFetched } = useEnvironmentSets(project.organization)
  const own = sets.find(set => set.environments.some(each => each.project === project.id))
  useEffect(() => {
    // The default depends on the sets, which may still be loading.
    if (!choice && isFetched) onChange(defaultChoice(environments, own))
  }, [choice, environments, own, isFetched, onChange])
  if (!choice) return null
  const change = (part: Partial<EnvironmentChoice>) => onChange({ ...choice, ...part })
  return (
    <Stack>
      <Alert color="blue">{t.imports.environments}</Alert>
      <NativeSelect
        label={t.imports.into}
        value={choice.into === 'set' ? String(choice.setId) : choice.into}
        onChange={event => {
          const { value } = event.currentTarget
          const set = sets.find(({ id }) => String(id) === value)
          change(set ? intoSet(environments, set) : { into: value as EnvironmentChoice['into'] })
        }}
        data={[
          { value: 'project', label: t.imports.intoProject },
          ...sets.map(({ id, name }) => ({ value: String(id), label: t.imports.intoSet(name) })),
          { value: 'new', label: t.imports.intoNewSet },
        ]}
      />
      {choice.into === 'project' && (
        <NativeSelect
          label={t.imports.environment}
          value={choice.environment}
          onChange={event => change({ environment: event.currentTarget.value })}
          data={[...environments]}
        />
      )}
      {choice.into === 'set' &&
        Object.entries(choice.bySetEnvironment).map(([name, environment]) => (
          <NativeSelect
            key={name}
            label={name}
            value={environment}
            onChange={event =>
              change({ bySetEnvironment: { ...choice.bySetEnvironment, [name]: event.currentTarget.value } })
            }
            data={[{ value: '', label: t.imports.leftOut }, ...environments]}
          />
        ))}
      {choice.into === 'new' && (
        <>
          <TextField
            label={t.imports.setName}
            value={choice.setName}
            onChange={event => change({ setName: event.currentTarget.value })}
          />
          {environments.map(name => (
            <Checkbox
              key={name}
              label={name}
              checked={choice.isIncluded[name] ?? false}
              onChange={event => change({ isIncluded: { ...choice.isIncluded, [name]: event.currentTarget.checked } })}
            />
          ))}
        </>
      )}
    </Stack>
  )
}
