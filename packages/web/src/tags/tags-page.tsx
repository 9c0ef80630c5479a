import { routes, tagCharactersMax } from '@halyard/contract'
import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { facetsKey, invalidateFlagLists } from '../flags/flag-cache.ts'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { ConfirmDialog } from '../ui/dialog/confirm-dialog.tsx'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { Loaded, ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { TagIcon } from '../ui/icons.tsx'
import { Page } from '../ui/layout/page.tsx'
import { replaceTagEverywhere, type TagFailure } from './replace-tag.ts'

interface CountedTag {
  readonly name: string
  readonly flag_count: number
  readonly editable_count: number
}

/** All tags of a project, and how many flags have them. */
export function TagsPage() {
  const t = useMessages()
  const { count } = useFormats()
  const { projectId } = useParams({ from: '/shell/project/$projectId/tags' })
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [renamed, setRenamed] = useState<CountedTag>()
  const [removed, setRemoved] = useState<CountedTag>()
  const [failures, setFailures] = useState<readonly TagFailure[]>([])
  const params = { project_id: projectId }
  const facets = useApiQuery(facetsKey(projectId), routes.flagList.facets, { params })
  const replace = useMutation({
    mutationFn: ({ tag, replacement }: { tag: string; replacement: string | null }) =>
      replaceTagEverywhere(body => call(routes.flagList.replaceTag, { params, body }), tag, replacement),
    onSuccess: async ({ updated, errors }) => {
      setFailures(errors)
      setRenamed(undefined)
      if (updated > 0) notify.success({ message: t.tagsPage.done(count(updated)) })
      await invalidateFlagLists(queries, projectId)
    },
  })
  return (
    <Page title={t.tagsPage.title} intro={t.tagsPage.intro}>
      <Stack>
        {failures.length > 0 && (
          <Alert color="yellow" role="alert" title={t.tagsPage.failed(count(failures.length))}>
            <List size="sm">
              {failures.slice(0, 20).map(({ id, key, reason }) => (
                <List.Item key={id}>
                  {key ?? id}: {reason}
                </List.Item>
              ))}
            </List>
          </Alert>
        )}
        <Loaded query={facets}>
          {({ tags }) =>
            tags.length === 0 ? (
              <EmptyState Icon={TagIcon} title={t.tagsPage.none} text={t.tagsPage.noneText} />
            ) : (
              <DataTable
                label={t.tagsPage.title}
                head={[t.tagsPage.tag, t.tagsPage.flags, '']}
                rows={tags.map(tag => ({
                  key: tag.name,
                  cells: [
                    <Link
                      key="tag"
                      to="/project/$projectId/flags"
                      params={{ projectId }}
                      search={{ tag: tag.name }}
                      style={{ overflowWrap: 'anywhere' }}
                    >
                      {tag.name}
                    </Link>,
                    count(tag.flag_count),
                    tag.editable_count > 0 && (
                      <Group key="actions" gap="xs" justify="flex-end" wrap="nowrap">
                        <Button
                          variant="subtle"
                          size="compact-sm"
                          aria-label={`${t.tagsPage.rename}: ${tag.name}`}
                          onClick={() => setRenamed(tag)}
                        >
                          {t.tagsPage.rename}
                        </Button>
                        <Button
                          variant="subtle"
                          color="red"
                          size="compact-sm"
                          aria-label={`${t.tagsPage.remove}: ${tag.name}`}
                          onClick={() => setRemoved(tag)}
                        >
                          {t.tagsPage.remove}
                        </Button>
                      </Group>
                    ),
                  ],
                }))}
              />
            )
          }
        </Loaded>
      </Stack>
      {renamed && (
        <Dialog title={t.tagsPage.renameTitle(renamed.name)} onClose={() => setRenamed(undefined)}>
          <RenameForm
            key={renamed.name}
            tag={renamed.name}
            error={replace.error}
            isBusy={replace.isPending}
            onRename={replacement => replace.mutate({ tag: renamed.name, replacement })}
          />
        </Dialog>
      )}
      {removed && (
        <ConfirmDialog
          question={t.tagsPage.removeQuestion(removed.name, count(removed.editable_count))}
          label={t.tagsPage.remove}
          onConfirm={() => replace.mutateAsync({ tag: removed.name, replacement: null })}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Page>
  )
}

interface RenameProps {
  tag: string
  error: unknown
  isBusy: boolean
  onRename: (name: string) => void
}

function RenameForm({ tag, error, isBusy, onRename }: RenameProps) {
  const t = useMessages()
  const [name, setName] = useState(tag)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() !== '' && name.trim() !== tag) onRename(name.trim())
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <ProblemAlert error={error} />
        <TextField
          data-autofocus
          label={t.tagsPage.newName}
          required
          maxLength={tagCharactersMax}
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
        <Text size="sm" c="dimmed">
          {t.tagsPage.mergeHint}
        </Text>
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy} disabled={name.trim() === '' || name.trim() === tag}>
            {t.tagsPage.rename}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
