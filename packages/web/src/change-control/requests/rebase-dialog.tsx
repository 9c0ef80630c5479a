import type { ChangeRequestDetail } from '@halyard/contract'
import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Choice } from '../../flags/editor/drafts/merge-drafts.ts'
import type { Wording } from '../../flags/flag-sentences.ts'
import { ThreeWay } from '../../flags/review/three-way.tsx'
import { useMessages } from '../../i18n/language.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { conflictedPlaces } from './request-changes.ts'

interface Props {
  request: ChangeRequestDetail
  wording: Wording
  onRebase: (resolve: Choice) => Promise<unknown>
  onClose: () => void
}

/** Puts a request on top of the present flag. One side wins in all places that both have changed. */
export function RebaseDialog({ request, wording, onRebase, onClose }: Props) {
  const t = useMessages()
  const [choice, setChoice] = useState<Choice>('mine')
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const rebase = async () => {
    setIsBusy(true)
    setError(null)
    try {
      await onRebase(choice)
      onClose()
    } catch (problem) {
      setError(problem)
      setIsBusy(false)
    }
  }
  const labels = { base: t.requests.original, theirs: t.requests.theirs, mine: t.requests.own }
  return (
    <Dialog size="xl" title={t.requests.conflictTitle} onClose={onClose}>
      <Stack>
        <Text size="sm">{t.requests.conflictIntro}</Text>
        {conflictedPlaces(request).map(place => (
          <section key={place.path}>
            <ThreeWay place={place} labels={labels} chosen={choice} wording={wording} />
          </section>
        ))}
        <SegmentedControl
          aria-label={t.requests.conflictTitle}
          orientation="vertical"
          value={choice}
          onChange={value => setChoice(value as Choice)}
          data={[
            { value: 'mine', label: t.requests.useOwn },
            { value: 'theirs', label: t.requests.useTheirs },
          ]}
        />
        <ProblemAlert error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.common.cancel}
          </Button>
          <Button data-autofocus loading={isBusy} onClick={rebase}>
            {t.requests.rebase}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
