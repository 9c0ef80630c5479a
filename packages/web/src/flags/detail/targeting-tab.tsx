import { routes } from '@halyard/contract'
import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { isProblem } from '../../api/problem.ts'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { changesOf, type Draft, draftOf, draftToWire } from '../editor/draft.ts'
import { FlagEditor } from '../editor/flag-editor.tsx'
import { Impact } from '../editor/impact.tsx'
import { cacheFlag } from '../flag-cache.ts'
import type { TabProps } from '../flag-tabs.ts'
import { ChangeList } from '../history/change-list.tsx'
import { useWording } from '../use-wording.ts'

export function TargetingTab({ flag, project, flags, cohorts }: TabProps) {
  const t = useMessages()
  const call = useCall()
  const notify = useNotify()
  const queries = useQueryClient()
  const projectId = String(project.id)
  const params = { project_id: projectId, id: String(flag.id) }
  // The form starts from the version that was opened; a newer one is loaded only when the form is unchanged or saved.
  const [opened, setOpened] = useState(flag)
  const original = useMemo(() => draftOf(opened), [opened])
  const [reviewed, setReviewed] = useState<Draft>()
  const save = useMutation({
    mutationFn: ({ draft, version }: { draft: Draft; version: number }) =>
      call(routes.flags.update, { params, body: { ...changesOf(draft, original), version } }),
    onSuccess: saved => {
      cacheFlag(queries, projectId, saved)
      queries.invalidateQueries({ queryKey: ['flag-history', projectId, String(saved.id)] })
      setReviewed(undefined)
      setOpened(saved)
      notify.success({ message: t.editor.saved })
    },
    onError: error => {
      if (!isProblem(error) || error.status !== 409) setReviewed(undefined)
    },
  })
  const latest = useMutation({
    mutationFn: () => call(routes.flags.get, { params }),
    onSuccess: current => cacheFlag(queries, projectId, current),
  })
  const isConflict = isProblem(save.error) && save.error.status === 409
  const takeTheirs = async () => {
    const theirs = await latest.mutateAsync()
    save.reset()
    setReviewed(undefined)
    setOpened(theirs)
  }
  const saveAnyway = async () => {
    const theirs = await latest.mutateAsync()
    if (reviewed) save.mutate({ draft: reviewed, version: theirs.version })
  }

  return (
    <>
      <FlagEditor
        key={opened.version}
        original={original}
        flagId={flag.id}
        project={project}
        flags={flags}
        cohorts={cohorts}
        isNew={false}
        isReadOnly={!flag.can_edit || flag.deleted}
        error={isConflict ? null : save.error}
        isSaving={save.isPending}
        onSave={setReviewed}
      />
      {reviewed && (
        <Dialog
          size="lg"
          title={isConflict ? t.editor.conflictTitle : t.editor.reviewTitle}
          onClose={() => setReviewed(undefined)}
        >
          <Stack>
            {isConflict && <ProblemAlert error={save.error} />}
            <Review draft={reviewed} original={original} {...{ flag, project, flags, cohorts }} />
            {changesOf(reviewed, original).filters !== undefined && (
              <Impact projectId={projectId} flagId={flag.id} draft={reviewed} isSound />
            )}
            <Group justify="flex-end">
              {isConflict ? (
                <>
                  <Button variant="default" onClick={takeTheirs} loading={latest.isPending}>
                    {t.editor.discardMine}
                  </Button>
                  <Button color="red" onClick={saveAnyway} loading={save.isPending}>
                    {t.editor.overwrite}
                  </Button>
                </>
              ) : (
                <>
                  <Button variant="default" onClick={() => setReviewed(undefined)}>
                    {t.editor.keepEditing}
                  </Button>
                  <Button
                    data-autofocus
                    loading={save.isPending}
                    onClick={() => save.mutate({ draft: reviewed, version: opened.version })}
                  >
                    {t.common.save}
                  </Button>
                </>
              )}
            </Group>
          </Stack>
        </Dialog>
      )}
    </>
  )
}

function Review({ draft, original, ...known }: TabProps & { draft: Draft; original: Draft }) {
  const t = useMessages()
  const wording = useWording(known)
  const before = draftToWire(original) as Record<string, unknown>
  const changes = Object.entries(changesOf(draft, original)).map(([field, after]) => ({
    field,
    before: before[field],
    after,
  }))
  if (changes.length === 0) return <Text>{t.editor.noChanges}</Text>
  return <ChangeList changes={changes} wording={wording} />
}
