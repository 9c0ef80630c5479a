import { routes } from '@halyard/contract'
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { isAdmin } from '../services/permissions.ts'
import { useCall } from '../services/services.ts'
import { useMembershipLevel } from '../services/session-queries.ts'
import { Dialog } from '../ui/dialog/dialog.tsx'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { TextField } from '../ui/form/text-field.tsx'
import { useOpenProject } from './use-open-project.ts'

interface Props {
  what: 'project' | 'organization'
  organizationId: string | undefined
  onClose: () => void
}

/** Creates a project or an organization and opens it. */
export function NewScopeDialog(props: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const open = useOpenProject()
  const [name, setName] = useState('')
  const [isSet, setIsSet] = useState(false)
  const isProject = props.what === 'project'
  const canTie = isAdmin(useMembershipLevel(props.organizationId))
  const make = useMutation({
    mutationFn: async (): Promise<{ id: number } | undefined> => {
      if (isProject) {
        const organization = props.organizationId
        if (isSet && organization) {
          const params = { parent_lookup_organization_id: organization }
          const set = await call(routes.environments.create, { params, body: { name } })
          await queries.invalidateQueries({ queryKey: ['environment-sets', organization] })
          const first = set.environments[0]
          return first && { id: first.project }
        }
        return call(routes.projects.create, { body: { name, ...(organization && { organization }) } })
      }
      return (await call(routes.organizations.create, { body: { name } })).teams[0]
    },
    onSuccess: async project => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['projects'] }),
        queries.invalidateQueries({ queryKey: ['organizations'] }),
      ])
      props.onClose()
      if (project) await open(project)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    make.mutate()
  }
  return (
    <Dialog onClose={props.onClose} title={isProject ? t.shell.newProject : t.shell.newOrganization}>
      <form onSubmit={submit}>
        <Stack>
          <ProblemAlert error={make.error} />
          <TextField
            label={isProject ? t.shell.projectName : t.shell.organizationName}
            required
            data-autofocus
            maxLength={isProject ? 200 : 64}
            value={name}
            onChange={event => setName(event.currentTarget.value)}
          />
          {isProject && canTie && (
            <Checkbox
              label={t.environments.withSet}
              checked={isSet}
              onChange={event => setIsSet(event.currentTarget.checked)}
            />
          )}
          <Group justify="flex-end">
            <Button type="submit" loading={make.isPending}>
              {t.common.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
