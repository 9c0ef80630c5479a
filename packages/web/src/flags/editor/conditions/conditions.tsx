import { Button, Divider, NativeSelect, Stack, Text, VisuallyHidden } from '@mantine/core'
import { Fragment, useState } from 'react'
import { useMessages } from '../../../i18n/language.tsx'
import { PlusIcon } from '../../../ui/icons.tsx'
import type { Condition, Filters } from '../../filters.ts'
import { ConditionCard } from './condition-card.tsx'
import { importedSettings } from './imported-settings.ts'

interface Props {
  filters: Filters
  onChange: (filters: Filters) => void
  groupTypes: Readonly<Record<string, string>>
}

/** The conditions in order, and whether they match people or groups. */
export function Conditions({ filters, onChange, groupTypes }: Props) {
  const t = useMessages()
  const { groups } = filters
  const [announcement, announce] = useState('')
  /** The moved card keeps the focus, so that it can be moved again by keyboard. */
  const [movedTo, setMovedTo] = useState<{ index: number; step: -1 | 1 }>()
  const set = (next: readonly Condition[]) => onChange({ ...filters, groups: next })
  const replace = (index: number, ...next: Condition[]) =>
    set(groups.flatMap((group, at) => (at === index ? next : [group])))
  const move = (index: number, step: -1 | 1) => {
    const next = [...groups]
    const [moved] = next.splice(index, 1)
    if (moved) next.splice(index + step, 0, moved)
    set(next)
    setMovedTo({ index: index + step, step })
    announce(t.editor.conditionMoved(index + 1, index + step + 1))
  }
  return (
    <Stack>
      {(Object.keys(groupTypes).length > 0 || filters.groupTypeIndex !== null) && (
        <NativeSelect
          label={t.editor.matchBy}
          description={t.editor.matchByHint}
          styles={{ wrapper: { maxWidth: 320 } }}
          value={String(filters.groupTypeIndex ?? '')}
          onChange={event => {
            const { value } = event.currentTarget
            // Person filters do not apply to groups, and the other way round.
            const cleared = groups.map(group => ({ ...group, properties: [] }))
            onChange({ ...filters, groups: cleared, groupTypeIndex: value === '' ? null : Number(value) })
          }}
          data={[
            { value: '', label: t.flagState.people },
            ...Object.entries(groupTypes).map(([value, label]) => ({ value, label })),
          ]}
        />
      )}
      {importedSettings({ bucketing: filters.raw.bucketing }, t).map(sentence => (
        <Text key={sentence} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {sentence}
        </Text>
      ))}
      {groups.map((condition, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no identity but their place.
        <Fragment key={index}>
          {index > 0 && <Divider label={t.words.or} my={-8} />}
          <ConditionCard
            condition={condition}
            index={index}
            count={groups.length}
            onChange={next => replace(index, next)}
            onMove={step => move(index, step)}
            moved={movedTo?.index === index ? movedTo.step : undefined}
            onDuplicate={() => {
              replace(index, condition, condition)
              announce(t.editor.conditionAdded(index + 2))
            }}
            onRemove={() => {
              replace(index)
              announce(t.editor.conditionRemoved(index + 1))
            }}
          />
        </Fragment>
      ))}
      <Button
        variant="default"
        leftSection={<PlusIcon size={16} />}
        style={{ alignSelf: 'flex-start' }}
        onClick={() => {
          set([...groups, { properties: [], rollout_percentage: 0 }])
          announce(t.editor.conditionAdded(groups.length + 1))
        }}
      >
        {t.editor.addCondition}
      </Button>
      <VisuallyHidden role="status">{announcement}</VisuallyHidden>
    </Stack>
  )
}
