import { Collapse, NativeSelect, Stack, Switch } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMessages } from '../../i18n/language.tsx'
import { DisclosureButton } from '../../ui/layout/disclosure-button.tsx'
import { withValueType } from '../filters.ts'
import type { Draft } from './draft.ts'
import classes from './editor.module.css'

export function AdvancedSettings({ draft, onChange }: { draft: Draft; onChange: (change: Partial<Draft>) => void }) {
  const t = useMessages()
  const [isOpen, { toggle }] = useDisclosure(false)
  return (
    <section className={classes.section}>
      <DisclosureButton label={t.editor.advanced} isOpen={isOpen} onToggle={toggle} />
      <Collapse expanded={isOpen}>
        <Stack mt="sm" gap="sm">
          <Switch
            label={t.fields.ensure_experience_continuity}
            description={t.editor.continuityHint}
            checked={draft.ensure_experience_continuity}
            onChange={event => onChange({ ensure_experience_continuity: event.currentTarget.checked })}
          />
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
        </Stack>
      </Collapse>
    </section>
  )
}
