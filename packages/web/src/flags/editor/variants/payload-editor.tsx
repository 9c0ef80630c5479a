import { Button, Stack, Textarea } from '@mantine/core'
import { useMessages } from '../../../i18n/language.tsx'
import { jsonErrorPosition } from '../../../ui/data/json-error.ts'
import { type Filters, own } from '../../filters.ts'
import classes from '../editor.module.css'
import { useEditing } from '../editor-context.ts'

/** Text that is not valid JSON yet, by flag value. */
export type BrokenPayloads = Readonly<Record<string, string>>

export interface PayloadProps {
  filters: Filters
  broken: BrokenPayloads
  onChange: (filters: Filters) => void
  onBroken: (broken: BrokenPayloads) => void
}

/**
 * The JSON payload that SDKs return with one flag value. The text is formatted only on request: a field that changes its
 * height on blur would move the button that is being clicked.
 */
export function PayloadField({ of: key, filters, broken, onChange, onBroken }: PayloadProps & { of: string }) {
  const t = useMessages()
  const { problemsAt } = useEditing()
  const text = own(broken, key) ?? payloadText(own(filters.payloads, key))
  const set = (next: string) => {
    const { [key]: _broken, ...otherBroken } = broken
    const isJson = next.trim() === '' || parse(next) !== undefined
    onBroken(isJson ? otherBroken : { ...otherBroken, [key]: next })
    if (!isJson) return
    const { [key]: _old, ...rest } = filters.payloads
    // Stored as text, as SDKs expect it.
    onChange({ ...filters, payloads: next.trim() === '' ? rest : { ...rest, [key]: next } })
  }
  const position = own(broken, key) === undefined ? undefined : jsonErrorPosition(text)
  const formatted = formatJson(text)
  const name = key === 'true' ? t.editor.payload : t.editor.payloadOf(key)
  return (
    <Stack gap={4}>
      <Textarea
        aria-label={name}
        placeholder='{"color": "green"}'
        autosize
        minRows={1}
        maxRows={12}
        spellCheck={false}
        classNames={{ input: classes.payload as string }}
        value={text}
        error={
          position ? t.editor.invalidJson(position.line, position.column) : problemsAt(`filters.payloads.${key}`)[0]
        }
        onChange={event => set(event.currentTarget.value)}
      />
      {formatted !== undefined && formatted !== text && (
        <Button
          variant="subtle"
          size="compact-xs"
          className={classes.add as string}
          aria-label={t.editor.formatOf(name)}
          onClick={() => set(formatted)}
        >
          {t.editor.format}
        </Button>
      )}
    </Stack>
  )
}

const payloadKeys = ({ variants }: Filters): string[] =>
  variants.length > 0 ? variants.map(({ key }) => key) : ['true']

/** Whether saving would lose visible text that is not valid JSON. */
export const hasBrokenPayload = (filters: Filters, broken: BrokenPayloads): boolean =>
  payloadKeys(filters).some(key => own(broken, key) !== undefined)

export const payloadText = (value: unknown): string =>
  value === undefined
    ? ''
    : typeof value === 'string' && parse(value) !== undefined
      ? value
      : JSON.stringify(value, null, 2)

/** Undefined for text that is not JSON, or nothing to format. */
export function formatJson(text: string): string | undefined {
  const parsed = text.trim() === '' ? undefined : parse(text)
  return parsed && JSON.stringify(parsed.value, null, 2)
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
