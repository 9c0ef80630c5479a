import { type Project, routes } from '@halyard/contract'
import { Button, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { PoliciesSection } from '../change-control/policies/policies-section.tsx'
import { useApprovers } from '../change-control/policies/use-approvers.ts'
import { useApprovalPolicies } from '../flags/gate/gate-queries.ts'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { canWrite, isAdmin } from '../services/permissions.ts'
import { useCall } from '../services/services.ts'
import { useProject } from '../services/session-queries.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { OneTimeSecret } from '../ui/data/one-time-secret.tsx'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { Loaded, ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { FormRow } from '../ui/layout/form-row.tsx'
import { Page } from '../ui/layout/page.tsx'
import { DeleteProject } from './delete-project.tsx'
import { TokenSection } from './token-section.tsx'

export function ProjectPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/settings' })
  const project = useProject(projectId)
  return (
    <Page title={t.shell.projectSettings} intro={project?.name}>
      {project && <Settings key={project.id} project={project} />}
    </Page>
  )
}

function useSecretKeys(project: Project) {
  const call = useCall()
  const params = { project_id: String(project.id) }
  return useQuery({
    queryKey: ['secret-keys', params.project_id],
    queryFn: ({ signal }) => call(routes.projects.listSecretKeys, { params, signal }),
  })
}

function Settings({ project }: { project: Project }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const navigate = useNavigate()
  const canEdit = isAdmin(project.effective_membership_level)
  const params = { project_id: String(project.id) }
  const keys = useSecretKeys(project)
  const policies = useApprovalPolicies(String(project.id))
  const approvers = useApprovers(project.organization)
  const isReady = !keys.isPending && !policies.isPending && !approvers.isPending
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
      <TokenSection project={project} canEdit={canEdit} />
      <SecretKeys project={project} canEdit={canEdit} />
      {isReady && <PoliciesSection project={project} canEdit={canEdit} />}
      {canEdit && isReady && <WebhooksLink projectId={params.project_id} />}
      {isReady && canWrite(project.effective_membership_level) && <ImportLink projectId={params.project_id} />}
      {/* Rendered once its position is final. */}
      {canEdit && isReady && <DeleteProject project={project} onDelete={remove} />}
    </Stack>
  )
}

function WebhooksLink({ projectId }: { projectId: string }) {
  const t = useMessages()
  return (
    <section>
      <Title order={2}>{t.webhooks.title}</Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t.project.webhooksIntro}
      </Text>
      <Button
        variant="default"
        renderRoot={props => <Link {...props} to="/project/$projectId/settings/webhooks" params={{ projectId }} />}
      >
        {t.project.manageWebhooks}
      </Button>
    </section>
  )
}

function ImportLink({ projectId }: { projectId: string }) {
  const t = useMessages()
  return (
    <section>
      <Title order={2}>{t.imports.title}</Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t.imports.intro}
      </Text>
      <Button
        variant="default"
        renderRoot={props => <Link {...props} to="/project/$projectId/import" params={{ projectId }} />}
      >
        {t.imports.open}
      </Button>
    </section>
  )
}

function SecretKeys({ project, canEdit }: { project: Project; canEdit: boolean }) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const params = { project_id: String(project.id) }
  const queryKey = ['secret-keys', params.project_id]
  const keys = useSecretKeys(project)
  const [label, setLabel] = useState('')
  const create = useMutation({
    mutationFn: () => call(routes.projects.createSecretKey, { params, body: { label } }),
    onSuccess: () => {
      setLabel('')
      return queries.invalidateQueries({ queryKey })
    },
  })
  const revoke = async (id: string) => {
    await call(routes.projects.removeSecretKey, { params: { ...params, key_id: id } })
    await queries.invalidateQueries({ queryKey })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <section>
      <Title order={2}>{t.project.secretKeys}</Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t.project.secretKeysIntro}
      </Text>
      <Stack>
        {canEdit && (
          <form onSubmit={submit}>
            <FormRow>
              <TextField
                label={t.account.label}
                required
                maxLength={40}
                value={label}
                error={fieldProblem(t, create.error, 'label')}
                onChange={event => setLabel(event.currentTarget.value)}
              />
              <Button type="submit" variant="default" loading={create.isPending}>
                {t.account.create}
              </Button>
            </FormRow>
          </form>
        )}
        {!fieldProblem(t, create.error, 'label') && <ProblemAlert error={create.error} />}
        {create.data?.value && <OneTimeSecret value={create.data.value} label={create.data.label} />}
        <Loaded query={keys}>
          {({ results }) =>
            results.length === 0 ? (
              <Text size="sm">{t.project.noSecretKeys}</Text>
            ) : (
              <DataTable
                label={t.project.secretKeys}
                head={[t.account.label, t.flags.columnCreated, '']}
                rows={results.map(key => ({
                  key: key.id,
                  cells: [
                    `${key.label} ${key.mask_value}`,
                    day(key.created_at),
                    canEdit ? (
                      <ConfirmButton
                        key="revoke"
                        label={t.account.revoke}
                        of={key.label}
                        question={t.account.revokeQuestion(key.label)}
                        done={t.account.revoked(key.label)}
                        onConfirm={() => revoke(key.id)}
                      />
                    ) : (
                      ''
                    ),
                  ],
                }))}
              />
            )
          }
        </Loaded>
      </Stack>
    </section>
  )
}
