import { type Project, routes } from '@halyard/contract'
import { Button, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { isAdmin } from '../services/permissions.ts'
import { useCall } from '../services/services.ts'
import { useProject } from '../services/session-queries.ts'
import { useApiQuery } from '../services/use-api-query.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { OneTimeSecret } from '../ui/data/one-time-secret.tsx'
import { ConfirmButton } from '../ui/dialog/confirm-button.tsx'
import { fieldProblem } from '../ui/feedback/problem-text.ts'
import { Loaded, ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { FormRow } from '../ui/layout/form-row.tsx'
import { Page } from '../ui/layout/page.tsx'
import { TokenSection } from './token-section.tsx'

/** The public token and the secret keys of a project. */
export function KeysPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/settings/keys' })
  const project = useProject(projectId)
  const canEdit = isAdmin(project?.effective_membership_level)
  return (
    <Page title={t.project.keys} intro={t.project.keysIntro}>
      {project && (
        <Stack gap="xl" key={project.id}>
          <TokenSection project={project} canEdit={canEdit} />
          <SecretKeys project={project} canEdit={canEdit} />
        </Stack>
      )}
    </Page>
  )
}

function SecretKeys({ project, canEdit }: { project: Project; canEdit: boolean }) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const params = { project_id: String(project.id) }
  const keys = useApiQuery(['secret-keys', params.project_id], routes.projects.listSecretKeys, { params })
  const [label, setLabel] = useState('')
  const create = useMutation({
    mutationFn: () => call(routes.projects.createSecretKey, { params, body: { label } }),
    onSuccess: () => {
      setLabel('')
      return queries.invalidateQueries({ queryKey: ['secret-keys'] })
    },
  })
  const revoke = async (id: string) => {
    await call(routes.projects.removeSecretKey, { params: { ...params, key_id: id } })
    await queries.invalidateQueries({ queryKey: ['secret-keys'] })
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
                        detail={t.account.revokeDetail}
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
