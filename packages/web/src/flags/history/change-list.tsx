import { Stack, Text } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import classes from '../../ui/diff/diff-lines.module.css'
import { diffLines } from '../../ui/diff/line-diff.ts'
import { filterLines, type Wording } from '../flag-sentences.ts'
import { rollbackLines } from '../schedule/rollback-condition.ts'

export interface FieldChange {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

interface Props {
  changes: readonly FieldChange[]
  wording: Wording
  /** For a previous value from another project. */
  wordingBefore?: Wording
}

/** A diff per field, with conditions as sentences. */
export function ChangeList({ changes, wording, wordingBefore = wording }: Props) {
  const t = useMessages()
  const names: Record<string, string> = t.fields
  const isSwitched = changes.some(({ field }) => field === 'active')
  // The switch and the note about its trigger say it already.
  const shown = changes.filter(({ field }) => !(isSwitched && field === 'performed_rollback'))
  return (
    <Stack gap="sm">
      {shown.map(({ field, before, after }) => (
        <div key={field}>
          {field === 'active' && before === !after ? (
            <Text size="sm" fw={600}>
              {after ? t.history.turnedOn : t.history.turnedOff}
            </Text>
          ) : (
            <>
              <Text size="sm" fw={600} mb={4}>
                {names[field] ?? field}
              </Text>
              <Lines before={linesOf(field, before, wordingBefore)} after={linesOf(field, after, wording)} />
            </>
          )}
        </div>
      ))}
    </Stack>
  )
}

function Lines({ before, after }: { before: string[]; after: string[] }) {
  const t = useMessages()
  const words = { removed: t.history.removed, added: t.history.added, same: '' }
  const marks = { removed: '−', added: '+', same: ' ' }
  return (
    <ul className={classes.lines}>
      {diffLines(before, after).map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a diff never move.
        <li key={index} className={classes[kind]}>
          <span aria-hidden="true">{marks[kind]} </span>
          {kind !== 'same' && <span className={classes.hidden}>{words[kind]}: </span>}
          {text}
        </li>
      ))}
    </ul>
  )
}

/** A field's value as lines of text. */
export function linesOf(field: string, value: unknown, wording: Wording): string[] {
  if (value === null || value === undefined || value === '') return []
  if (field === 'filters' && typeof value === 'object') return filterLines(value as Record<string, unknown>, wording)
  if (field === 'rollback_conditions') return rollbackLines(value, wording)
  if (field === 'links' && Array.isArray(value))
    return value.map(({ title, url }) => (title ? `${title}: ${url}` : url))
  if (field === 'active') return [value === true ? wording.t.flags.stateOn : wording.t.flags.stateOff]
  if (typeof value === 'boolean') return [value ? wording.t.words.yes : wording.t.words.no]
  if (Array.isArray(value)) return value.map(item => (typeof item === 'string' ? item : JSON.stringify(item)))
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)]
}
