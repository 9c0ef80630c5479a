import {
  ActionIcon,
  Button,
  Group,
  List,
  NativeSelect,
  NumberInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { TrashIcon } from '../app/icons.tsx'
import { useNotify } from '../app/notify.ts'
import { ProblemAlert } from '../app/problems.tsx'
import { useMessages } from '../messages/language.tsx'
import type { TabProps } from './flag-page.tsx'
import { usePatchFlag } from './use-flags.ts'

interface RollbackCondition {
  readonly metric?: { readonly event?: string; readonly name?: string } | string
  readonly operator?: string
  readonly threshold?: number
  readonly window_minutes?: number
}

/** When the flag is to be switched off by itself: an event that comes too often, or too seldom. */
export function RollbackSection({ flag, project }: TabProps) {
  const t = useMessages()
  const notify = useNotify()
  const patch = usePatchFlag(String(project.id))
  const { conditions } = flag.rollback_conditions as { conditions?: unknown }
  const known = Array.isArray(conditions) ? (conditions as RollbackCondition[]) : []
  const [event, setEvent] = useState('')
  const [operator, setOperator] = useState('gt')
  const [threshold, setThreshold] = useState(10)
  const [minutes, setMinutes] = useState(60)
  const save = (next: readonly RollbackCondition[]) =>
    patch.mutate(
      {
        flag,
        patch: { rollback_conditions: next.length === 0 ? {} : { ...flag.rollback_conditions, conditions: next } },
      },
      {
        onSuccess: () => {
          setEvent('')
          notify.tell({ message: t.editor.saved })
        },
      },
    )
  const submit = (given: FormEvent) => {
    given.preventDefault()
    save([...known, { metric: { event }, operator, threshold, window_minutes: minutes }])
  }
  const operators: Record<string, string> = t.operators
  const sentence = (condition: RollbackCondition): string => {
    const { metric } = condition
    const name = typeof metric === 'string' ? metric : (metric?.event ?? metric?.name ?? '?')
    const compared = operators[condition.operator ?? ''] ?? condition.operator ?? ''
    return t.rollback.sentence(name, compared, String(condition.threshold), condition.window_minutes ?? 60)
  }
  return (
    <Stack gap="sm">
      <div>
        <Title order={2}>{t.rollback.title}</Title>
        <Text size="sm" c="dimmed">
          {t.rollback.intro}
        </Text>
      </div>
      <ProblemAlert error={patch.error} />
      {known.length > 0 && (
        <List listStyleType="none" spacing="xs" size="sm">
          {known.map((condition, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no identity but their place.
            <List.Item key={index}>
              <Group gap="xs">
                {sentence(condition)}
                {flag.can_edit && (
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label={`${t.common.remove}: ${sentence(condition)}`}
                    onClick={() => save(known.filter((_, at) => at !== index))}
                  >
                    <TrashIcon size={16} />
                  </ActionIcon>
                )}
              </Group>
            </List.Item>
          ))}
        </List>
      )}
      {flag.can_edit && (
        <form onSubmit={submit}>
          <Group align="flex-end">
            <TextInput
              label={t.rollback.event}
              placeholder="$exception"
              required
              withAsterisk={false}
              value={event}
              onChange={given => setEvent(given.currentTarget.value)}
            />
            <NativeSelect
              label={t.editor.operator}
              value={operator}
              onChange={given => setOperator(given.currentTarget.value)}
              data={['gt', 'gte', 'lt', 'lte'].map(value => ({ value, label: operators[value] ?? value }))}
            />
            <NumberInput
              label={t.rollback.times}
              w={100}
              value={threshold}
              onChange={value => setThreshold(Number(value))}
            />
            <NumberInput
              label={t.rollback.minutes}
              w={110}
              min={1}
              max={10_080}
              value={minutes}
              onChange={value => setMinutes(Number(value))}
            />
            <Button type="submit" variant="default" loading={patch.isPending}>
              {t.rollback.add}
            </Button>
          </Group>
        </form>
      )}
    </Stack>
  )
}
