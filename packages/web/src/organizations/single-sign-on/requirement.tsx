import { type Member, routes } from '@halyard/contract'
import { ownerLevel } from '@halyard/contract/levels'
import { Stack, Switch, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { requirementKey } from './sign-in-queries.ts'

interface Props {
  organizationId: string
  canManage: boolean
  isRequired: boolean
  members: readonly Member[]
}

/** Whether members must sign in with a provider, and who can sign in when it is down. */
export function Requirement({ organizationId, canManage, isRequired, members }: Props) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const owner = members.find(({ level }) => level === ownerLevel)
  const save = useMutation({
    mutationFn: (next: boolean) =>
      call(routes.identityProviders.updateRequirement, {
        params: { parent_lookup_organization_id: organizationId },
        body: { is_required: next },
      }),
    onSuccess: ({ is_required }) => {
      notify.success({ message: is_required ? t.singleSignOn.requireOn : t.singleSignOn.requireOff })
      return queries.invalidateQueries({ queryKey: requirementKey(organizationId) })
    },
  })
  return (
    <Stack gap="xs" maw={640}>
      <Title order={2}>{t.singleSignOn.requirement}</Title>
      <Switch
        label={t.singleSignOn.require}
        description={t.singleSignOn.requireHint}
        disabled={!canManage}
        checked={save.isPending ? save.variables : isRequired}
        onChange={event => save.mutate(event.currentTarget.checked)}
      />
      {owner && (
        <Text size="sm">
          {owner.is_2fa_enabled
            ? t.singleSignOn.breakGlass(owner.user.email)
            : t.singleSignOn.breakGlassLacksFactor(owner.user.email)}
        </Text>
      )}
      <ProblemAlert error={save.error} />
    </Stack>
  )
}
