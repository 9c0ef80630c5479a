import { type Project, routes } from '@halyard/contract'
import { Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { isAdmin } from '../services/permissions.ts'
import { useCall } from '../services/services.ts'
import { useProject } from '../services/session-queries.ts'
import { useNotify } from '../ui/feedback/notify.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { FormRow } from '../ui/layout/form-row.tsx'
import { Page } from '../ui/layout/page.tsx'
import { DeleteProject } from './delete-project.tsx'

/** The name of a project, and its end. */
export function GeneralPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/settings/' })
  const project = useProject(projectId)
  return <Page title={t.project.general}>{project && <General key={project.id} project={project} />}</Page>
}

function General({ project }: { project: Project }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const navigate = useNavigate()
  const canEdit = isAdmin(project.effective_membership_level)
  const params = { project_id: String(project.id) }
  const [name, setName] = useState(project.name)
  const refresh = () => queries.invalidateQueries({ queryKey: ['projects'] })
  const rename = useMutation({
    mutationFn: () => call(routes.projects.update, { params, body: { name } }),
    onSuccess: async () => {
      await refresh()
      notify.success({ message: t.editor.saved })
    },
  })
  const remove = async () => {
    await call(routes.projects.remove, { params })
    notify.success({ message: t.project.removed(project.name) })
    queries.clear()
    await navigate({ to: '/' })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rename.mutate()
  }
  return (
    <Stack gap="xl">
      <form onSubmit={submit}>
        <FormRow>
          <TextInput
            label={t.shell.projectName}
            readOnly={!canEdit}
            maxLength={200}
            value={name}
            error={fieldProblem(t, rename.error, 'name')}
            onChange={event => setName(event.currentTarget.value)}
            flex="1 1 220px"
            maw={360}
          />
          {canEdit && (
            <Button type="submit" variant="default" loading={rename.isPending}>
              {t.common.save}
            </Button>
          )}
        </FormRow>
      </form>
      {canEdit && <DeleteProject project={project} onDelete={remove} />}
    </Stack>
  )
}
