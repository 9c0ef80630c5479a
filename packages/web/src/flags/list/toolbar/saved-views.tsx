import { routes, type SavedView, savedViewNameCharactersMax } from '@halyard/contract'
import { ActionIcon, Button, Checkbox, Group, Menu, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../../../i18n/language.tsx'
import { useCall } from '../../../services/services.ts'
import { useCanWrite } from '../../../services/session-queries.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import { useNotify } from '../../../ui/feedback/notify.ts'
import { fieldProblem } from '../../../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../../../ui/feedback/problems.tsx'
import { TextField } from '../../../ui/form/text-field.tsx'
import { BookmarkIcon, TrashIcon } from '../../../ui/icons.tsx'
import { type FlagSearch, readViewQuery, writeViewQuery } from '../flag-search.ts'

interface Props {
  projectId: string
  search: FlagSearch
  onOpen: (search: FlagSearch) => void
}

/** Opens, saves and deletes named filters of the list. */
export function SavedViews({ projectId, search, onOpen }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [isSaving, saving] = useDisclosure(false)
  const params = { project_id: projectId }
  const views = useQuery({
    queryKey: ['saved-views', projectId],
    queryFn: ({ signal }) => call(routes.savedViews.list, { params, signal }),
    staleTime: 60_000,
  })
  const refresh = () => queries.invalidateQueries({ queryKey: ['saved-views', projectId] })
  const remove = async (view: SavedView) => {
    try {
      await call(routes.savedViews.remove, { params: { ...params, id: String(view.id) } })
      await refresh()
      notify.success({ message: t.views.deleted(view.name) })
    } catch (error) {
      notify.fail(error)
    }
  }
  const query = writeViewQuery(search)
  return (
    <>
      <Menu position="bottom-end" width={280}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.views.title} title={t.views.title}>
            <BookmarkIcon />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {(views.data ?? []).map(view => (
            <Group key={view.id} gap={0} wrap="nowrap">
              <Menu.Item
                flex={1}
                onClick={() => onOpen(readViewQuery(view.query))}
                {...(view.is_shared && { rightSection: <small>{t.views.shared}</small> })}
              >
                {view.name}
              </Menu.Item>
              {view.is_own && (
                <Menu.Item w="auto" aria-label={t.views.remove(view.name)} onClick={() => remove(view)}>
                  <TrashIcon size={16} />
                </Menu.Item>
              )}
            </Group>
          ))}
          {(views.data ?? []).length === 0 && <Menu.Label>{t.views.none}</Menu.Label>}
          <Menu.Divider />
          <Menu.Item disabled={query === ''} onClick={saving.open}>
            {t.views.save}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isSaving && (
        <Dialog title={t.views.save} onClose={saving.close}>
          <SaveView
            projectId={projectId}
            query={query}
            onSaved={async name => {
              saving.close()
              notify.success({ message: t.views.saved(name) })
              await refresh()
            }}
          />
        </Dialog>
      )}
    </>
  )
}

interface SaveProps {
  projectId: string
  query: string
  onSaved: (name: string) => void
}

function SaveView({ projectId, query, onSaved }: SaveProps) {
  const t = useMessages()
  const call = useCall()
  const [name, setName] = useState('')
  const [isShared, setIsShared] = useState(false)
  const canShare = useCanWrite(projectId)
  const save = useMutation({
    mutationFn: () =>
      call(routes.savedViews.create, {
        params: { project_id: projectId },
        body: { name, query, is_shared: isShared },
      }),
    onSuccess: ({ name: saved }) => onSaved(saved),
  })
  const atName = fieldProblem(t, save.error, 'name')
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <Stack>
        {!atName && <ProblemAlert error={save.error} />}
        <TextField
          data-autofocus
          label={t.views.name}
          required
          maxLength={savedViewNameCharactersMax}
          value={name}
          error={atName}
          onChange={event => setName(event.currentTarget.value)}
        />
        {canShare && (
          <Checkbox
            label={t.views.share}
            checked={isShared}
            onChange={event => setIsShared(event.currentTarget.checked)}
          />
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            {t.common.save}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
