import { routes } from '@halyard/contract'
import { Stack, Switch } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useOrganizations } from '../services/session-queries.ts'
import { useNotify } from '../ui/feedback/notify.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'

/** The setting of an organization that its members need a second factor. */
export function RequireFactor({ organizationId }: { organizationId: string }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const organization = useOrganizations().data?.find(({ id }) => id === organizationId)
  const save = useMutation({
    mutationFn: (isRequired: boolean) =>
      call(routes.organizations.update, {
        params: { parent_lookup_organization_id: organizationId },
        body: { requires_second_factor: isRequired },
      }),
    onSuccess: ({ requires_second_factor }) => {
      notify.success({ message: requires_second_factor ? t.secondFactor.requireOn : t.secondFactor.requireOff })
      return queries.invalidateQueries({ queryKey: ['organizations'] })
    },
  })
  if (!organization) return null
  return (
    <Stack gap="xs" maw={560}>
      <Switch
        label={t.secondFactor.require}
        description={t.secondFactor.requireHint}
        checked={save.isPending ? save.variables : organization.requires_second_factor}
        onChange={event => save.mutate(event.currentTarget.checked)}
      />
      <ProblemAlert error={save.error} />
    </Stack>
  )
}
