import { Collapse, NativeSelect, Stack, Switch, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { WithHelp } from '../../ui/form/with-help.tsx'
import { DisclosureButton } from '../../ui/layout/disclosure-button.tsx'
import { withValueType } from '../filters.ts'
import type { Draft } from './draft.ts'
import classes from './editor.module.css'

interface Props {
  draft: Draft
  onChange: (change: Partial<Draft>) => void
}

export function AdvancedSettings({ draft, onChange }: Props) {
  const t = useMessages()
  const [isOpen, { toggle }] = useDisclosure(false)
  return (
    <section className={classes.section}>
      <DisclosureButton label={t.editor.advanced} isOpen={isOpen} onToggle={toggle} />
      <Collapse expanded={isOpen}>
        <Stack mt="sm" gap="sm">
          <WithHelp
            label={t.fields.ensure_experience_continuity}
            help={t.help.continuity}
            docs="/docs/guide/dashboard#persist-across-sign-in"
          >
            <Switch
              label={t.fields.ensure_experience_continuity}
              description={t.editor.continuityHint}
              checked={draft.ensure_experience_continuity}
              onChange={event => onChange({ ensure_experience_continuity: event.currentTarget.checked })}
            />
          </WithHelp>
          <WithHelp
            label={t.fields.bucketing_identifier}
            help={t.help.bucketing}
            docs="/docs/guide/dashboard#bucket-by"
          >
            <NativeSelect
              label={t.fields.bucketing_identifier}
              maw={320}
              value={draft.bucketing_identifier ?? 'distinct_id'}
              onChange={event =>
                onChange({ bucketing_identifier: event.currentTarget.value as 'distinct_id' | 'device_id' })
              }
              data={[
                { value: 'distinct_id', label: t.editor.byPerson },
                { value: 'device_id', label: t.editor.byDevice },
              ]}
            />
          </WithHelp>
          <WithHelp
            label={t.fields.evaluation_runtime}
            help={t.help.runtime}
            docs="/docs/guide/dashboard#evaluation-runtime"
          >
            <NativeSelect
              label={t.fields.evaluation_runtime}
              maw={320}
              value={draft.evaluation_runtime ?? 'all'}
              onChange={event =>
                onChange({ evaluation_runtime: event.currentTarget.value as 'all' | 'server' | 'client' })
              }
              data={[
                { value: 'all', label: t.editor.runtimeAll },
                { value: 'server', label: t.editor.runtimeServer },
                { value: 'client', label: t.editor.runtimeClient },
              ]}
            />
          </WithHelp>
          <Holdout filters={draft.filters} />
          <ValueType draft={draft} onChange={onChange} />
        </Stack>
      </Collapse>
    </section>
  )
}

function ValueType({ draft, onChange }: Props) {
  const t = useMessages()
  return (
    <NativeSelect
      label={t.editor.valueType}
      description={t.editor.valueTypeHint}
      maw={320}
      value={String(draft.filters.raw.return_type ?? '')}
      onChange={event => onChange({ filters: withValueType(draft.filters, event.currentTarget.value) })}
      data={[
        { value: '', label: t.editor.valueTypeOwn },
        { value: 'boolean', label: t.editor.valueTypeBoolean },
        { value: 'string', label: t.editor.valueTypeString },
        { value: 'number', label: t.editor.valueTypeNumber },
        { value: 'object', label: t.editor.valueTypeObject },
      ]}
    />
  )
}

/** The holdout of a flag, which is set through the API. */
function Holdout({ filters }: Pick<Draft, 'filters'>) {
  const t = useMessages()
  const { percent } = useFormats()
  const holdout = readHoldout(filters.raw.holdout)
  if (!holdout) return null
  return (
    <WithHelp label={t.editor.holdout} help={t.help.holdout} docs="/docs/guide/dashboard#holdouts">
      <Text size="sm">{t.editor.heldOut(holdout.id, percent(holdout.exclusion_percentage))}</Text>
    </WithHelp>
  )
}

function readHoldout(value: unknown): { readonly id: number; readonly exclusion_percentage: number } | undefined {
  const { id, exclusion_percentage: percentage } = (value ?? {}) as Record<string, unknown>
  return typeof id === 'number' && typeof percentage === 'number' ? { id, exclusion_percentage: percentage } : undefined
}
