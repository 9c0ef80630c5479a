import { ActionIcon, Button, Group, NumberInput, Paper, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useFormats, useMessages } from '../../../i18n/language.tsx'
import { PlusIcon, TrashIcon } from '../../../ui/icons.tsx'
import type { Filters, Variant } from '../../filters.ts'
import classes from '../editor.module.css'
import { useEditing } from '../editor-context.ts'
import { PayloadField, type PayloadProps } from './payload-editor.tsx'
import { variantColor } from './variant-colors.ts'
import { addVariant, evenly, removeVariant, withWeight } from './variants.ts'

/** Boolean or multivariate; each variant with its percentage, description and payload. */
export function VariantsEditor(payloads: PayloadProps) {
  const { filters, onChange } = payloads
  const t = useMessages()
  const { variants } = filters
  const set = (next: readonly Variant[]) => onChange(withVariants(filters, next))
  const rename = (index: number, key: string) => onChange(renameVariant(filters, index, key))
  return (
    <Paper withBorder p="md" radius="lg">
      <SegmentedControl
        aria-label={t.editor.kind}
        value={variants.length > 0 ? 'variants' : 'boolean'}
        onChange={kind => set(kind === 'variants' ? addVariant(addVariant([])) : [])}
        data={[
          { value: 'boolean', label: t.editor.kindBoolean },
          { value: 'variants', label: t.editor.kindVariants },
        ]}
      />
      {variants.length === 0 ? (
        <div className={classes.single}>
          <PayloadField of="true" {...payloads} />
        </div>
      ) : (
        <Stack gap="xs" mt="md">
          <Bar variants={variants} />
          {variants.map((variant, index) => (
            <VariantRow
              // biome-ignore lint/suspicious/noArrayIndexKey: the key of a variant changes while it is typed.
              key={index}
              variant={variant}
              index={index}
              payload={<PayloadField of={variant.key} {...payloads} />}
              onKey={key => rename(index, key)}
              onName={name => set(variants.map((each, at) => (at === index ? { ...each, name } : each)))}
              onWeight={weight => set(withWeight(variants, index, weight))}
              onRemove={() => set(removeVariant(variants, index))}
            />
          ))}
          <Group gap="xs">
            <Button
              variant="subtle"
              size="compact-sm"
              leftSection={<PlusIcon size={14} />}
              onClick={() => set(addVariant(variants))}
            >
              {t.editor.addVariant}
            </Button>
            <Button variant="subtle" color="gray" size="compact-sm" onClick={() => set(evenly(variants))}>
              {t.editor.distributeEvenly}
            </Button>
          </Group>
        </Stack>
      )}
    </Paper>
  )
}

interface RowProps {
  variant: Variant
  index: number
  payload: ReactNode
  onKey: (key: string) => void
  onName: (name: string) => void
  onWeight: (weight: number) => void
  onRemove: () => void
}

function VariantRow({ variant, index, payload, onKey, onName, onWeight, onRemove }: RowProps) {
  const t = useMessages()
  const { problemsAt } = useEditing()
  const [problem] = problemsAt(`filters.multivariate.variants[${index}]`)
  const { key, name = '', rollout_percentage } = variant
  return (
    <div className={classes.variant} role="group" aria-label={t.editor.variant(key)}>
      <span className={classes.swatch} style={{ background: variantColor(index) }} aria-hidden="true" />
      <Stack gap={4}>
        <TextInput
          aria-label={t.editor.variantKey(index + 1)}
          value={key}
          error={problem}
          onChange={event => onKey(event.currentTarget.value)}
        />
        <TextInput
          size="xs"
          variant="unstyled"
          aria-label={t.editor.descriptionOf(key)}
          placeholder={t.editor.description}
          maxLength={400}
          value={name}
          onChange={event => onName(event.currentTarget.value)}
        />
      </Stack>
      <NumberInput
        aria-label={t.editor.weightOf(key)}
        suffix=" %"
        min={0}
        max={100}
        decimalScale={2}
        clampBehavior="strict"
        hideControls
        value={rollout_percentage}
        onChange={value => typeof value === 'number' && value !== rollout_percentage && onWeight(value)}
      />
      {payload}
      <ActionIcon variant="subtle" color="gray" mt={4} aria-label={t.editor.removeVariant(key)} onClick={onRemove}>
        <TrashIcon size={16} />
      </ActionIcon>
    </div>
  )
}

function Bar({ variants }: { variants: readonly Variant[] }) {
  const { percent } = useFormats()
  return (
    <>
      <div className={classes.bar} aria-hidden="true">
        {variants.map(({ rollout_percentage }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the key of a variant changes while it is typed.
          <span key={index} style={{ width: `${rollout_percentage}%`, background: variantColor(index) }} />
        ))}
      </div>
      <Text size="xs" c="dimmed">
        {variants.map(({ key, rollout_percentage }) => `${key} ${percent(rollout_percentage)}`).join(' · ')}
      </Text>
    </>
  )
}

/** Overrides and payloads of removed variants would be rejected, so they are removed too. */
function withVariants(filters: Filters, variants: readonly Variant[]): Filters {
  const keys = new Set(variants.map(({ key }) => key))
  const isKept = (key: string) => (variants.length === 0 ? key === 'true' : keys.has(key))
  return {
    ...filters,
    variants,
    payloads: Object.fromEntries(Object.entries(filters.payloads).filter(([key]) => isKept(key))),
    groups: filters.groups.map(group =>
      group.variant && !keys.has(group.variant) ? { ...group, variant: null } : group,
    ),
  }
}

function renameVariant(filters: Filters, index: number, key: string): Filters {
  const old = filters.variants[index]?.key ?? ''
  const isShared = filters.variants.some((variant, at) => at !== index && variant.key === old)
  const variants = filters.variants.map((variant, at) => (at === index ? { ...variant, key } : variant))
  if (isShared) return { ...filters, variants }
  return {
    ...filters,
    variants,
    payloads: Object.fromEntries(
      Object.entries(filters.payloads).map(([name, value]) => [name === old ? key : name, value]),
    ),
    groups: filters.groups.map(group => (group.variant === old ? { ...group, variant: key } : group)),
  }
}
