import { Group, NativeSelect } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { NumberField } from '../../ui/form/number-field.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import {
  type ConditionDraft,
  type ConditionType,
  choicesFor,
  fieldName,
  fieldsFor,
  fieldType,
  fitCondition,
  operatorsFor,
  typesFor,
} from './policy-condition.ts'

interface ConditionProps {
  action: string
  condition: ConditionDraft
  onChange: (condition: ConditionDraft) => void
}

/** Which changes a policy concerns. */
export function ConditionFields({ action, condition, onChange }: ConditionProps) {
  const t = useMessages()
  const { type, field, operator, value } = condition
  const hasField = type === 'any_change' || type === 'before_after' || type === 'change_amount'
  const isCompared = type === 'before_after' || type === 'change_amount'
  const hasNumber = type === 'people_affected' || type === 'losses'
  const change = (patch: Partial<ConditionDraft>) => onChange(fitCondition({ ...condition, ...patch }, action))
  return (
    <>
      <NativeSelect
        label={t.policies.condition}
        value={type}
        onChange={event => change({ type: event.currentTarget.value as ConditionType })}
        data={typesFor(action).map(each => ({ value: each, label: t.policies.conditions[each] ?? each }))}
      />
      {hasField && (
        <Group grow align="flex-start">
          <NativeSelect
            label={t.policies.field}
            value={field}
            onChange={event => change({ field: event.currentTarget.value })}
            data={fieldsFor(type, field).map(each => ({ value: each, label: fieldName(each, t) }))}
          />
          {isCompared && (
            <NativeSelect
              label={t.policies.operator}
              value={operator}
              onChange={event => change({ operator: event.currentTarget.value })}
              data={[...operatorsFor(field)]}
            />
          )}
          {isCompared && <ComparedValue condition={condition} onChange={next => change({ value: next })} />}
        </Group>
      )}
      {hasNumber && (
        <NumberField
          label={t.policies.number}
          min={0}
          required
          value={value}
          onChange={next => change({ value: String(next) })}
        />
      )}
      {type === 'tag' && (
        <TextField
          label={t.policies.tag}
          required
          value={value}
          onChange={event => change({ value: event.currentTarget.value })}
        />
      )}
    </>
  )
}

interface ValueProps {
  condition: ConditionDraft
  onChange: (value: string) => void
}

/** What the field is compared with: a percentage, a choice or text. */
function ComparedValue({ condition: { type, field, value }, onChange }: ValueProps) {
  const t = useMessages()
  const choices = choicesFor(field)
  if (choices) {
    const labels: Readonly<Record<string, string>> = { true: t.words.yes, false: t.words.no }
    return (
      <NativeSelect
        label={t.policies.value}
        value={value}
        onChange={event => onChange(event.currentTarget.value)}
        data={choices.map(each => ({ value: each, label: labels[each] ?? each }))}
      />
    )
  }
  if (fieldType(field) === 'percentage') {
    return (
      <NumberField
        label={t.policies.value}
        min={type === 'change_amount' ? -100 : 0}
        max={100}
        suffix=" %"
        required
        value={value}
        onChange={next => onChange(String(next))}
      />
    )
  }
  return (
    <TextField
      label={t.policies.value}
      required
      value={value}
      onChange={event => onChange(event.currentTarget.value)}
    />
  )
}
