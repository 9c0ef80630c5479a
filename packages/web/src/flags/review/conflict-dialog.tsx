import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import type { Choice, Collision } from '../editor/drafts/merge-drafts.ts'
import { type Condition, readFilters } from '../filters.ts'
import { conditionSentence, type Wording } from '../flag-sentences.ts'
import { linesOf } from '../history/change-list.tsx'
import classes from './conflict-dialog.module.css'

interface Props {
  collisions: readonly Collision[]
  wording: Wording
  onDecide: (choices: Readonly<Record<string, Choice>>) => void
  onDiscard: () => void
  onClose: () => void
}

/** Each collision in three columns: the original, the other user's and the own version. */
export function ConflictDialog({ collisions, wording, onDecide, onDiscard, onClose }: Props) {
  const t = useMessages()
  const [choices, setChoices] = useState<Readonly<Record<string, Choice>>>({})
  const choiceOf = ({ path }: Collision): Choice => choices[path] ?? 'mine'
  const decide = () => onDecide(Object.fromEntries(collisions.map(collision => [collision.path, choiceOf(collision)])))
  return (
    <Dialog size="xl" title={t.editor.conflictTitle} onClose={onClose}>
      <Stack>
        <Text size="sm">{t.editor.conflictIntro}</Text>
        {collisions.map(collision => {
          const place = placeName(collision.path, wording)
          return (
            <section key={collision.path} aria-label={place}>
              <Text size="sm" fw={600} mb={4}>
                {place}
              </Text>
              <div className={classes.columns}>
                {(['base', 'theirs', 'mine'] as const).map(side => (
                  <div key={side} className={classes.column} data-chosen={choiceOf(collision) === side || undefined}>
                    <Text size="xs" c="dimmed">
                      {side === 'base' ? t.editor.original : t.editor[side]}
                    </Text>
                    {valueLines(collision.path, collision[side], wording).map((line, index) => (
                      // biome-ignore lint/suspicious/noArrayIndexKey: lines never move.
                      <div key={index} className={classes.line}>
                        {line}
                      </div>
                    ))}
                  </div>
                ))}
              </div>
              <SegmentedControl
                mt="xs"
                size="xs"
                aria-label={t.editor.choiceFor(place)}
                value={choiceOf(collision)}
                onChange={value => setChoices(old => ({ ...old, [collision.path]: value as Choice }))}
                data={[
                  { value: 'theirs', label: t.editor.theirs },
                  { value: 'mine', label: t.editor.mine },
                ]}
              />
            </section>
          )
        })}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDiscard}>
            {t.editor.discardMine}
          </Button>
          <Button data-autofocus onClick={decide}>
            {t.editor.resolved}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

function placeName(path: string, { t }: Wording): string {
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
