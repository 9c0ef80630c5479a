import { JsonInput, Stack } from '@mantine/core'
import { useMessages } from '../../../i18n/language.tsx'
import { jsonErrorPosition } from '../../../ui/data/json-error.ts'
import type { Filters } from '../../filters.ts'

/** Text that is not valid JSON yet, by flag value. */
export type BrokenPayloads = Readonly<Record<string, string>>

interface Props {
  filters: Filters
  broken: BrokenPayloads
  onChange: (filters: Filters) => void
  onBroken: (broken: BrokenPayloads) => void
}

/** The JSON payload that SDKs return with a flag value. */
export function PayloadEditor({ filters, broken, onChange, onBroken }: Props) {
  const t = useMessages()
  const set = (key: string, text: string) => {
    const { [key]: _broken, ...otherBroken } = broken
    const isJson = text.trim() === '' || parse(text) !== undefined
    onBroken(isJson ? otherBroken : { ...otherBroken, [key]: text })
    if (!isJson) return
    const { [key]: _old, ...rest } = filters.payloads
    // Stored as text, as SDKs expect it.
    onChange({ ...filters, payloads: text.trim() === '' ? rest : { ...rest, [key]: text } })
  }
  const jsonError = (text = '') => {
    const position = text === '' ? undefined : jsonErrorPosition(text)
    return position && t.editor.invalidJson(position.line, position.column)
  }
  return (
    <Stack gap="sm">
      {payloadKeys(filters).map(key => (
        <JsonInput
          key={key}
          {...(key === 'true' ? { 'aria-label': t.editor.payload } : { label: t.editor.payloadOf(key) })}
          placeholder='{"color": "green"}'
          autosize
          minRows={1}
          maxRows={12}
          formatOnBlur
          value={broken[key] ?? textOf(filters.payloads[key])}
          error={jsonError(broken[key])}
          onChange={text => set(key, text)}
        />
      ))}
    </Stack>
  )
}

const payloadKeys = ({ variants }: Filters): string[] =>
  variants.length > 0 ? variants.map(({ key }) => key) : ['true']

/** Whether saving would lose visible text that is not valid JSON. */
export const hasBrokenPayload = (filters: Filters, broken: BrokenPayloads): boolean =>
  payloadKeys(filters).some(key => broken[key] !== undefined)

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
