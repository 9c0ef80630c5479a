import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import type { Choice, Collision } from '../editor/drafts/merge-drafts.ts'
import type { Wording } from '../flag-sentences.ts'
import { placeName, ThreeWay } from './three-way.tsx'

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
              <ThreeWay
                place={collision}
                labels={{ base: t.editor.original, theirs: t.editor.theirs, mine: t.editor.mine }}
                chosen={choiceOf(collision)}
                wording={wording}
              />
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
