import { Text } from '@mantine/core'
import type { Choice, Collision } from '../editor/drafts/merge-drafts.ts'
import { type Condition, readFilters } from '../filters.ts'
import { conditionSentence, type Wording } from '../flag-sentences.ts'
import { linesOf } from '../history/change-list.tsx'
import classes from './three-way.module.css'

interface Props {
  place: Collision
  labels: Readonly<Record<'base' | 'theirs' | 'mine', string>>
  chosen: Choice
  wording: Wording
  /** Makes the two changed columns a choice. */
  onChoose?: (side: Choice) => void
}

/** One place in three columns: as it was, and as each side has changed it. */
export function ThreeWay({ place, labels, chosen, wording, onChoose }: Props) {
  const name = placeName(place.path, wording)
  const contentOf = (side: keyof Props['labels']) => (
    <>
      <Text size="xs" c="dimmed" span>
        {labels[side]}
      </Text>
      {valueLines(place.path, place[side], wording).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines never move.
        <span key={index} className={classes.line}>
          {line}
        </span>
      ))}
    </>
  )
  return (
    <>
      <Text size="sm" fw={600} mb={4}>
        {name}
      </Text>
      <div
        className={classes.columns}
        {...(onChoose && { role: 'radiogroup', 'aria-label': wording.t.editor.choiceFor(name) })}
      >
        <div className={classes.column}>{contentOf('base')}</div>
        {(['theirs', 'mine'] as const).map(side =>
          onChoose ? (
            <label key={side} className={classes.column} data-chosen={chosen === side || undefined}>
              <input
                type="radio"
                name={place.path}
                className={classes.radio}
                checked={chosen === side}
                onChange={() => onChoose(side)}
              />
              {contentOf(side)}
            </label>
          ) : (
            <div key={side} className={classes.column} data-chosen={chosen === side || undefined}>
              {contentOf(side)}
            </div>
          ),
        )}
      </div>
    </>
  )
}

export function placeName(path: string, { t }: Wording): string {
  const condition = /^filters\.groups\[(\d+)\]$/.exec(path)?.[1]
  if (condition !== undefined) return t.editor.condition(Number(condition) + 1)
  const payload = /^filters\.payloads\.(.*)$/.exec(path)?.[1]
  if (payload !== undefined) return payload === 'true' ? t.editor.payload : t.editor.payloadOf(payload)
  if (path === 'filters.groups') return t.editor.conditions
  if (path.startsWith('filters.')) return t.editor.flagType
  const names: Record<string, string> = t.fields
  return names[path] ?? path
}

function valueLines(path: string, value: unknown, wording: Wording): string[] {
  const none = [wording.t.common.none]
  if (value === undefined) return none
  if (/^filters\.groups\[\d+\]$/.test(path)) {
    const filters = readFilters({ groups: [value] })
    return [conditionSentence(filters.groups[0] as Condition, filters, wording)]
  }
  const field = /^filters\.(groups|multivariate)$/.exec(path)?.[1]
  const lines = field ? linesOf('filters', { [field]: value }, wording) : linesOf(path, value, wording)
  return lines.length > 0 ? lines : none
}
