import { Stack, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import type { Wording } from '../flag-sentences.ts'
import { type FieldChange, linesOf } from '../history/change-list.tsx'
import classes from './side-by-side.module.css'

interface Props {
  changes: readonly FieldChange[]
  before: string
  after: string
  wording: Wording
  /** For a previous value from another project. */
  wordingBefore?: Wording
  /** There is nothing to compare with: the values stand alone. */
  isNew?: boolean
}

/** Each changed field in two columns. */
export function SideBySide({ changes, before, after, wording, wordingBefore = wording, isNew = false }: Props) {
  const t = useMessages()
  const names: Record<string, string> = t.fields
  const column = (label: string, lines: readonly string[]) => (
    <div className={classes.column}>
      {!isNew && (
        <Text size="xs" c="dimmed">
          {label}
        </Text>
      )}
      {lines.length === 0
        ? t.common.none
        : lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines never move.
            <div key={index}>{line}</div>
          ))}
    </div>
  )
  return (
    <Stack gap="xs" mt="xs">
      {changes.map(({ field, before: old, after: next }) => (
        <div key={field}>
          <Text size="sm" fw={600} mb={4}>
            {names[field] ?? field}
          </Text>
          <div className={isNew ? undefined : classes.columns}>
            {!isNew && column(before, linesOf(field, old, wordingBefore))}
            {column(after, linesOf(field, next, wording))}
          </div>
        </div>
      ))}
    </Stack>
  )
}
