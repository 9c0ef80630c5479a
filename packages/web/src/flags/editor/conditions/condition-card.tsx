import {
  ActionIcon,
  Button,
  Group,
  Menu,
  NativeSelect,
  NumberInput,
  Paper,
  Slider,
  Stack,
  Text,
  Title,
  Tooltip,
} from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useFormats, useMessages } from '../../../i18n/language.tsx'
import { CopyIcon, DownIcon, PlusIcon, TrashIcon, UpIcon } from '../../../ui/icons.tsx'
import type { Condition, Property } from '../../filters.ts'
import classes from '../editor.module.css'
import { useEditing } from '../editor-context.ts'
import { importedSettings } from './imported-settings.ts'
import { PropertyRow } from './property-row.tsx'

interface Props {
  condition: Condition
  index: number
  count: number
  /** Just moved here, so it takes the focus. */
  moved: -1 | 1 | undefined
  onChange: (condition: Condition) => void
  onMove: (step: -1 | 1) => void
  onDuplicate: () => void
  onRemove: () => void
}

export function ConditionCard(props: Props) {
  const { condition, index, count, moved, onChange, onMove, onDuplicate, onRemove } = props
  const t = useMessages()
  const tools = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (moved === undefined) return
    const [up, down] = tools.current?.querySelectorAll('button') ?? []
    const again = moved === -1 ? up : down
    ;(again?.disabled ? (moved === -1 ? down : up) : again)?.focus()
  }, [moved])
  const { variantKeys, problemsAt } = useEditing()
  const path = `filters.groups[${index}]`
  const [addedAt, setAddedAt] = useState<number>()
  const add = (property: Property) => {
    setAddedAt(condition.properties.length)
    onChange({ ...condition, properties: [...condition.properties, property] })
  }
  const setProperty = (at: number, property: Property | undefined) =>
    onChange({
      ...condition,
      properties: condition.properties.flatMap((old, position) => (position === at ? (property ?? []) : old)),
    })
  const title = t.editor.condition(index + 1)
  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={title}>
      <Group justify="space-between" mb="sm" wrap="nowrap">
        <Title order={3} fw={600} fz="sm">
          {title}
        </Title>
        <Group gap={2} wrap="nowrap" ref={tools}>
          <Tool label={t.editor.moveUp} isDisabled={index === 0} onClick={() => onMove(-1)}>
            <UpIcon size={16} />
          </Tool>
          <Tool label={t.editor.moveDown} isDisabled={index === count - 1} onClick={() => onMove(1)}>
            <DownIcon size={16} />
          </Tool>
          <Tool label={t.editor.duplicate} onClick={onDuplicate}>
            <CopyIcon size={16} />
          </Tool>
          <Tool label={t.editor.removeCondition} isDisabled={count === 1} onClick={onRemove}>
            <TrashIcon size={16} />
          </Tool>
        </Group>
      </Group>
      <Stack gap="xs">
        {condition.properties.length === 0 && (
          <Text size="sm" c="dimmed">
            {t.editor.matchesEveryone}
          </Text>
        )}
        {condition.properties.map((property, at) => (
          <PropertyRow
            // biome-ignore lint/suspicious/noArrayIndexKey: filters have no identity but their place.
            key={at}
            joint={at === 0 ? t.editor.where : t.editor.and}
            path={`${path}.properties[${at}]`}
            property={property}
            isNew={addedAt === at}
            onChange={next => setProperty(at, next)}
            onRemove={() => setProperty(at, undefined)}
          />
        ))}
        <AddFilter onAdd={add} />
        <Rollout
          value={condition.rollout_percentage}
          problems={problemsAt(`${path}.rollout_percentage`)}
          onChange={rollout_percentage => onChange({ ...condition, rollout_percentage })}
        />
        {importedSettings(condition, t).map(sentence => (
          <Text key={sentence} size="sm" style={{ overflowWrap: 'anywhere' }}>
            {sentence}
          </Text>
        ))}
        {variantKeys.length > 0 && (
          <NativeSelect
            label={t.editor.variantOverride}
            value={condition.variant ?? ''}
            onChange={event => onChange({ ...condition, variant: event.currentTarget.value || null })}
            data={[{ value: '', label: t.editor.byWeight }, ...variantKeys]}
            maw={320}
          />
        )}
      </Stack>
    </Paper>
  )
}

function Tool(props: { label: string; isDisabled?: boolean; onClick: () => void; children: React.ReactNode }) {
  return (
    <Tooltip label={props.label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={props.label}
        disabled={props.isDisabled ?? false}
        onClick={props.onClick}
        bg="transparent"
      >
        {props.children}
      </ActionIcon>
    </Tooltip>
  )
}

function AddFilter({ onAdd }: { onAdd: (property: Property) => void }) {
  const t = useMessages()
  const { groupTypeIndex, groupTypes } = useEditing()
  const button = (props: { onClick?: () => void }) => (
    <Button
      variant="subtle"
      size="compact-sm"
      leftSection={<PlusIcon size={14} />}
      className={classes.add as string}
      {...props}
    >
      {t.editor.addFilter}
    </Button>
  )
  const add = (property: Partial<Property>) =>
    onAdd({ key: '', type: 'person', operator: 'exact', value: [], ...property } as Property)
  if (groupTypeIndex !== null)
    return button({ onClick: () => add({ type: 'group', group_type_index: groupTypeIndex }) })
  return (
    <Menu position="bottom-start" returnFocus={false}>
      <Menu.Target>{button({})}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => add({})}>{t.editor.personProperty}</Menu.Item>
        {Object.entries(groupTypes).map(([index, name]) => (
          <Menu.Item key={index} onClick={() => add({ type: 'group', group_type_index: Number(index) })}>
            {t.editor.groupProperty(name)}
          </Menu.Item>
        ))}
        <Menu.Item onClick={() => add({ type: 'cohort', key: 'id', operator: 'in', value: '' })}>
          {t.editor.cohort}
        </Menu.Item>
        <Menu.Item onClick={() => add({ type: 'flag', operator: 'flag_evaluates_to', value: true })}>
          {t.editor.otherFlag}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function Rollout(props: { value: number | null; problems: readonly string[]; onChange: (value: number) => void }) {
  const t = useMessages()
  const { percent } = useFormats()
  const value = props.value ?? 100
  return (
    <Group gap="md" wrap="nowrap" align="center" mt="xs">
      <Text size="sm" flex="none">
        {t.editor.rollOutTo}
      </Text>
      <Slider
        flex={1}
        value={value}
        onChange={props.onChange}
        label={percent}
        step={1}
        thumbLabel={t.editor.rollout}
        marks={[{ value: 0 }, { value: 25 }, { value: 50 }, { value: 75 }, { value: 100 }]}
      />
      <NumberInput
        aria-label={t.editor.rollout}
        w={96}
        min={0}
        max={100}
        decimalScale={2}
        suffix=" %"
        clampBehavior="strict"
        hideControls
        value={value}
        error={props.problems[0]}
        onChange={next => typeof next === 'number' && props.onChange(next)}
      />
    </Group>
  )
}
