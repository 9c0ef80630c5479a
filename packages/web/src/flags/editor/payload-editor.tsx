import { JsonInput, Stack } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../messages/language.tsx'
import type { Filters } from '../filters.ts'

interface Props {
  filters: Filters
  onChange: (filters: Filters) => void
}

/** A payload is JSON that an SDK hands to the program along with the value. */
export function PayloadEditor({ filters, onChange }: Props) {
  const t = useMessages()
  const keys = filters.variants.length > 0 ? filters.variants.map(({ key }) => key) : ['true']
  const set = (key: string, value: unknown) => {
    const { [key]: _old, ...rest } = filters.payloads
    onChange({ ...filters, payloads: value === undefined ? rest : { ...rest, [key]: value } })
  }
  return (
    <Stack gap="sm">
      {keys.map(key => (
        <Payload
          key={key}
          {...(key === 'true' ? { 'aria-label': t.editor.payload } : { label: t.editor.payloadOf(key) })}
          value={filters.payloads[key]}
          onChange={value => set(key, value)}
        />
      ))}
    </Stack>
  )
}

interface PayloadProps {
  label?: string
  /** Where the heading above says it already. */
  'aria-label'?: string
  value: unknown
  onChange: (value: unknown) => void
}

function Payload({ value, onChange, ...names }: PayloadProps) {
  const t = useMessages()
  const [text, setText] = useState(() => textOf(value))
  const isWrong = text.trim() !== '' && parse(text) === undefined
  const change = (next: string) => {
    setText(next)
    if (next.trim() === '') onChange(undefined)
    // Kept as text, as SDKs expect it; what is not JSON yet is not taken over.
    else if (parse(next) !== undefined) onChange(next)
  }
  return (
    <JsonInput
      {...names}
      placeholder='{"colour": "green"}'
      autosize
      minRows={1}
      maxRows={12}
      formatOnBlur
      value={text}
      error={isWrong ? t.editor.notJson : undefined}
      onChange={change}
    />
  )
}

const textOf = (value: unknown): string =>
  value === undefined
    ? ''
    : typeof value === 'string' && parse(value) !== undefined
      ? value
      : JSON.stringify(value, null, 2)

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
