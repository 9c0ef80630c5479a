import { routes } from '@halyard/contract'
import { ownerLevel } from '@halyard/contract/levels'
import { Stack, Switch, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMessages } from '../../i18n/language.tsx'
import { useMembers } from '../../services/member-queries.ts'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { combineQueries, Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'

/** Whether members must sign in with a provider, and who gets in when it is down. */
export function Requirement({ organizationId, canManage }: { organizationId: string; canManage: boolean }) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { parent_lookup_organization_id: organizationId }
  const queryKey = ['single-sign-on', organizationId]
  const requirement = useQuery({
    queryKey,
    queryFn: ({ signal }) => call(routes.identityProviders.getRequirement, { params, signal }),
  })
  const members = useMembers(organizationId)
  const save = useMutation({
    mutationFn: (isRequired: boolean) =>
      call(routes.identityProviders.updateRequirement, { params, body: { is_required: isRequired } }),
    onSuccess: ({ is_required }) => {
      notify.success({ message: is_required ? t.singleSignOn.requireOn : t.singleSignOn.requireOff })
      return queries.invalidateQueries({ queryKey })
    },
  })
  return (
    <Stack gap="xs" maw={640}>
      <Title order={2}>{t.singleSignOn.requirement}</Title>
      <Loaded query={combineQueries({ requirement, members })}>
        {data => {
          const owner = data.members.find(({ level }) => level === ownerLevel)
          return (
            <>
              <Switch
                label={t.singleSignOn.require}
                description={t.singleSignOn.requireHint}
                disabled={!canManage}
                checked={save.isPending ? save.variables : data.requirement.is_required}
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
            </>
          )
        }}
      </Loaded>
    </Stack>
  )
}
