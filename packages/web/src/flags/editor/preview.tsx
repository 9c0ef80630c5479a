import { compile, type Definitions, type FlagDefinition } from '@halyard/engine'
import { Badge, Code, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMemo, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { GroupPicker } from '../../subject-pickers/group-picker.tsx'
import { PersonPicker } from '../../subject-pickers/person-picker.tsx'
import { reasonSentence } from '../explain/reason.ts'
import type { Filters } from '../filters.ts'
import { regex } from './draft-definitions.ts'
import { groupTypesOf, inputProperties, propertiesOf, type SubjectValues, textOf } from './preview-subject.ts'
import { formatJson } from './variants/payload-editor.tsx'

interface Props {
  projectId: string
  draft: FlagDefinition
  filters: Filters
  definitions: Definitions
  isReadOnly: boolean
}

/** Evaluates the draft for one person or group with the engine that the server uses. */
export function Preview({ projectId, draft, filters, definitions, isReadOnly }: Props) {
  const t = useMessages()
  const { groupTypes } = definitions
  const [distinctId, setDistinctId] = useState('user-1')
  const [groupKeys, setGroupKeys] = useState<Readonly<Record<string, string>>>({})
  const [values, setValues] = useState<SubjectValues>({ stored: {}, typed: {} })
  const inputs = useMemo(() => inputProperties(filters), [filters])
  const outcome = useMemo(() => {
    const named = Object.entries(groupTypes)
    const subject = {
      distinctId,
      personProperties: propertiesOf(inputs, values, 'person'),
      groups: Object.fromEntries(named.map(([index, name]) => [name, groupKeys[index] ?? exampleGroup])),
      groupProperties: Object.fromEntries(named.map(([index, name]) => [name, propertiesOf(inputs, values, index)])),
    }
    // An off flag is evaluated as if it were on: anything else would say nothing about its conditions.
    const flags = definitions.flags.map(flag => (flag.id === draft.id ? { ...flag, active: true } : flag))
    return compile({ ...definitions, flags }, { regex })
      .evaluate(subject, { keys: [draft.key], now: Date.now() })
      .get(draft.key)
  }, [draft, definitions, groupTypes, distinctId, groupKeys, values, inputs])
  const neededTypes = groupTypesOf(filters, inputs)
  const isForGroups = filters.groupTypeIndex !== null
  const subjectType = isForGroups ? groupTypes[String(filters.groupTypeIndex)] : undefined
  const nameOfType = (index: string) => groupTypes[index] ?? t.preview.group
  /** The stored properties of another subject replace those that were typed for the last one. */
  const setStored = (of: string, properties: Readonly<Record<string, unknown>>) =>
    setValues(({ stored, typed }) => ({
      stored: { ...stored, [of]: properties },
      typed: Object.fromEntries(Object.entries(typed).filter(([id]) => !id.startsWith(`${of} `))),
    }))

  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={t.preview.title}>
      <Title order={2} mb={2}>
        {t.preview.title}
      </Title>
      <Text size="xs" c="dimmed" mb="sm">
        {isReadOnly ? (draft.active ? '' : t.preview.offIntro) : draft.active ? t.preview.intro : t.preview.introOff}
      </Text>
      <Stack gap="xs">
        {!isForGroups && (
          <PersonPicker
            projectId={projectId}
            size="xs"
            label={t.preview.person}
            value={distinctId}
            onChange={setDistinctId}
            onPick={({ properties }) => setStored('person', properties)}
          />
        )}
        {neededTypes.map(index => (
          <GroupPicker
            key={index}
            projectId={projectId}
            typeIndex={index}
            label={t.preview.groupOf(nameOfType(index))}
            value={groupKeys[index] ?? exampleGroup}
            onChange={key => setGroupKeys(old => ({ ...old, [index]: key }))}
            onPick={({ group_properties }) => setStored(index, group_properties)}
          />
        ))}
        {inputs.map(input => (
          <TextInput
            key={input.id}
            size="xs"
            label={input.key}
            placeholder={t.preview.notSet}
            value={textOf(input, values)}
            onChange={event => {
              const { value } = event.currentTarget
              setValues(old => ({ ...old, typed: { ...old.typed, [input.id]: value } }))
            }}
          />
        ))}
      </Stack>
      <div role="status" aria-live="polite">
        {outcome && (
          <Stack gap={4} mt="md">
            <Group gap="xs">
              <Text size="sm">{t.preview.result(subjectType)}</Text>
              <Badge color={outcome.enabled ? 'green' : 'gray'} variant="light" size="lg" radius="sm">
                {outcome.value === true ? t.preview.on : outcome.value === false ? t.preview.off : outcome.value}
              </Badge>
            </Group>
            <Text size="xs" c="dimmed">
              {reasonSentence(t, outcome.reason) ?? outcome.reason.description}
            </Text>
            {outcome.payload !== null && (
              <>
                <Text size="xs" fw={500}>
                  {t.editor.payload}
                </Text>
                <Code block tabIndex={0} aria-label={t.editor.payload} role="group">
                  {formatJson(outcome.payload) ?? outcome.payload}
                </Code>
              </>
            )}
          </Stack>
        )}
      </div>
    </Paper>
  )
}

const exampleGroup = 'acme'
