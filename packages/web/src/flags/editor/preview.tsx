import { compile, type Definitions, type FlagDefinition } from '@halyard/engine'
import { Badge, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { reasonSentence } from '../explain/reason.ts'
import type { Filters } from '../filters.ts'
import { regex } from './draft-definitions.ts'

interface Props {
  draft: FlagDefinition
  filters: Filters
  definitions: Definitions
}

/** Evaluates the draft for one person with the engine that the server uses. */
export function Preview({ draft, filters, definitions }: Props) {
  const t = useMessages()
  const [distinctId, setDistinctId] = useState('user-1')
  const [groupKey, setGroupKey] = useState('acme')
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const inputs = useMemo(() => propertiesOf(filters), [filters])
  const outcome = useMemo(() => {
    const { groupTypes } = definitions
    const named = Object.entries(groupTypes)
    const subject = {
      distinctId,
      personProperties: valuesOf(inputs, values, 'person'),
      groups: Object.fromEntries(named.map(([, name]) => [name, groupKey])),
      groupProperties: Object.fromEntries(named.map(([index, name]) => [name, valuesOf(inputs, values, index)])),
    }
    // An off flag is evaluated as if it were on: anything else would say nothing about its conditions.
    const flags = definitions.flags.map(flag => (flag.id === draft.id ? { ...flag, active: true } : flag))
    return compile({ ...definitions, flags }, { regex })
      .evaluate(subject, { keys: [draft.key], now: Date.now() })
      .get(draft.key)
  }, [draft, definitions, distinctId, groupKey, values, inputs])
  const needsGroup = filters.groupTypeIndex !== null || inputs.some(({ of }) => of !== 'person')

  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={t.preview.title}>
      <Title order={2} mb={2}>
        {t.preview.title}
      </Title>
      <Text size="xs" c="dimmed" mb="sm">
        {draft.active ? t.preview.intro : t.preview.introOff}
      </Text>
      <Stack gap="xs">
        <TextInput
          size="xs"
          label={t.preview.distinctId}
          value={distinctId}
          onChange={event => setDistinctId(event.currentTarget.value)}
        />
        {needsGroup && (
          <TextInput
            size="xs"
            label={t.preview.groupKey}
            value={groupKey}
            onChange={event => setGroupKey(event.currentTarget.value)}
          />
        )}
        {inputs.map(({ id, label }) => (
          <TextInput
            key={id}
            size="xs"
            label={label}
            placeholder={t.preview.notSet}
            value={values[id] ?? ''}
            onChange={event => {
              const { value } = event.currentTarget
              setValues(old => ({ ...old, [id]: value }))
            }}
          />
        ))}
      </Stack>
      <div role="status" aria-live="polite">
        {outcome && (
          <Stack gap={4} mt="md">
            <Group gap="xs">
              <Text size="sm">{t.preview.result}</Text>
              <Badge color={outcome.enabled ? 'green' : 'gray'} variant="light" size="lg" radius="sm">
                {outcome.value === true ? t.preview.on : outcome.value === false ? t.preview.off : outcome.value}
              </Badge>
            </Group>
            <Text size="xs" c="dimmed">
              {reasonSentence(t, outcome.reason) ?? outcome.reason.description}
            </Text>
            {outcome.payload !== null && (
              <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                {outcome.payload}
              </Text>
            )}
          </Stack>
        )}
      </div>
    </Paper>
  )
}

interface InputProperty {
  readonly id: string
  readonly label: string
  readonly key: string
  /** `person`, or the index of a group type. */
  readonly of: string
}

/** The properties that the conditions read; others have no effect. */
function propertiesOf(filters: Filters): InputProperty[] {
  const found = filters.groups
    .flatMap(group => group.properties)
    .filter(({ type, key }) => (type === 'person' || type === 'group') && key !== '')
    .map(({ type, key, group_type_index }): InputProperty => {
      const of = type === 'person' ? 'person' : String(group_type_index ?? 0)
      return { id: `${of} ${key}`, label: key, key, of }
    })
  return [...new Map(found.map(property => [property.id, property])).values()]
}

const valuesOf = (inputs: readonly InputProperty[], values: Readonly<Record<string, string>>, of: string) =>
  Object.fromEntries(
    inputs.flatMap(property => {
      const text = values[property.id]
      return property.of !== of || text === undefined || text === '' ? [] : [[property.key, text]]
    }),
  )
