import { Button, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { PropertyRow } from '../flags/editor/conditions/property-row.tsx'
import type { Property } from '../flags/filters.ts'
import { useMessages } from '../i18n/language.tsx'
import { PlusIcon, TrashIcon } from '../ui/icons.tsx'
import { type FilterMember, type FilterTree, isTree, memberPath } from './cohort-tree.ts'

interface Props {
  tree: FilterTree
  path: string
  /** The group's name: `1`, `1.2`, … The root has none. */
  name?: string
  depth?: number
  onChange: (tree: FilterTree) => void
  onRemove?: () => void
}

/** Deeper nesting is unreadable; the API allows more. */
const depthMax = 4

/** A nested group of filters, combined with AND or OR. */
export function FilterGroup({ tree, path, name = '', depth = 0, onChange, onRemove }: Props) {
  const t = useMessages()
  const { type, members } = tree
  const replace = (at: number, ...next: FilterMember[]) =>
    onChange({ ...tree, members: members.flatMap((old, index) => (index === at ? next : [old])) })
  const [addedAt, setAddedAt] = useState<number>()
  const add = (member: FilterMember) => {
    setAddedAt(members.length)
    onChange({ ...tree, members: [...members, member] })
  }
  const joint = type === 'AND' ? t.editor.and : t.words.or
  const label = name === '' ? t.cohorts.definition : t.cohorts.group(name)
  const body = (
    <Stack gap="sm">
      <Group justify="space-between">
        <Group gap="xs">
          {name !== '' && (
            <Text size="sm" fw={600}>
              {label}
            </Text>
          )}
          <SegmentedControl
            aria-label={`${t.cohorts.match}: ${label}`}
            size="xs"
            value={type}
            onChange={next => onChange({ ...tree, type: next as 'AND' | 'OR' })}
            data={[
              { value: 'AND', label: t.cohorts.all },
              { value: 'OR', label: t.cohorts.any },
            ]}
          />
        </Group>
        {onRemove && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            leftSection={<TrashIcon size={14} />}
            onClick={onRemove}
          >
            {t.cohorts.removeGroup(name)}
          </Button>
        )}
      </Group>
      {members.length === 0 && (
        <Text size="sm" c="dimmed">
          {depth === 0 ? t.cohorts.matchesEveryone : t.cohorts.emptyGroup}
        </Text>
      )}
      {members.map((member, index) =>
        isTree(member) ? (
          <FilterGroup
            // biome-ignore lint/suspicious/noArrayIndexKey: filters have no identity but their place.
            key={index}
            tree={member}
            path={memberPath(path, index)}
            name={name === '' ? String(index + 1) : `${name}.${index + 1}`}
            depth={depth + 1}
            onChange={next => replace(index, next)}
            onRemove={() => replace(index)}
          />
        ) : (
          <PropertyRow
            // biome-ignore lint/suspicious/noArrayIndexKey: filters have no identity but their place.
            key={index}
            joint={index === 0 ? t.editor.where : joint}
            path={memberPath(path, index)}
            property={member}
            isNew={addedAt === index}
            onChange={next => replace(index, next)}
            onRemove={() => replace(index)}
          />
        ),
      )}
      <AddMember canNest={depth < depthMax} onAdd={add} />
    </Stack>
  )
  if (depth === 0) return body
  return (
    <Paper withBorder p="sm" radius="lg" component="section" aria-label={label}>
      {body}
    </Paper>
  )
}

const performed: Property = {
  type: 'behavioral',
  key: '',
  value: 'performed_event',
  event_type: 'events',
  operator: 'gte',
  time_value: 30,
  time_interval: 'day',
}

function AddMember({ canNest, onAdd }: { canNest: boolean; onAdd: (member: FilterMember) => void }) {
  const t = useMessages()
  const filter: Property = { key: '', type: 'person', operator: 'exact', value: [] }
  const button = (label: string, member: FilterMember) => (
    <Button variant="subtle" size="compact-sm" leftSection={<PlusIcon size={14} />} onClick={() => onAdd(member)}>
      {label}
    </Button>
  )
  return (
    <Group gap="xs">
      {button(t.editor.addFilter, filter)}
      {button(t.behavior.add, performed)}
      {button(t.cohorts.addCohort, { key: 'id', type: 'cohort', operator: 'in', value: '' })}
      {canNest && button(t.cohorts.addGroup, { type: 'OR', members: [filter] })}
    </Group>
  )
}
