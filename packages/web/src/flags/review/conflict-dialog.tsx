import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import type { Choice, Collision } from '../editor/drafts/merge-drafts.ts'
import type { Wording } from '../flag-sentences.ts'
import type { VersionAuthor } from '../history/use-version-author.ts'
import { placeName, ThreeWay } from './three-way.tsx'

interface Props {
  collisions: readonly Collision[]
  wording: Wording
  /** Who saved the other version; undefined while it is loaded. */
  author: VersionAuthor | undefined
  onDecide: (choices: Readonly<Record<string, Choice>>) => void
  onDiscard: () => void
  onClose: () => void
}

/** Each collision in three columns: the original, the other user's and the own version. */
export function ConflictDialog({ collisions, wording, author, onDecide, onDiscard, onClose }: Props) {
  const t = useMessages()
  const [choices, setChoices] = useState<Readonly<Record<string, Choice>>>({})
  const choiceOf = ({ path }: Collision): Choice => choices[path] ?? 'mine'
  const labels = {
    base: t.editor.original,
    theirs: author ? t.editor.theirsBy(author.name, author.time) : t.editor.theirs,
    mine: t.editor.mine,
  }
  const decide = () => onDecide(Object.fromEntries(collisions.map(collision => [collision.path, choiceOf(collision)])))
  return (
    <Dialog size="xl" title={t.editor.conflictTitle} onClose={onClose}>
      <Stack>
        <Text size="sm">{t.editor.conflictIntro(author?.name)}</Text>
        {collisions.map(collision => {
          const place = placeName(collision.path, wording)
          return (
            <section key={collision.path} aria-label={place}>
              <ThreeWay
                place={collision}
                labels={labels}
                chosen={choiceOf(collision)}
                wording={wording}
                onChoose={side => setChoices(old => ({ ...old, [collision.path]: side }))}
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
