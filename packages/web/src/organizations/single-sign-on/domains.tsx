import { type OrganizationDomain, routes } from '@halyard/contract'
import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useFormats, useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { CopyTextButton } from '../../ui/data/copy-button.tsx'
import { DataTable } from '../../ui/data/data-table.tsx'
import { ConfirmButton } from '../../ui/dialog/confirm-button.tsx'
import { useNotify } from '../../ui/feedback/notify.ts'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { ProblemAlert } from '../../ui/feedback/problems.tsx'
import { TextField } from '../../ui/form/text-field.tsx'
import { unlessEdited } from '../../ui/form/unless-edited.ts'
import { FormRow } from '../../ui/layout/form-row.tsx'
import { domainsKey } from './sign-in-queries.ts'

interface Props {
  organizationId: string
  domains: readonly OrganizationDomain[]
  canManage: boolean
}

/** Domains of email addresses, and the records that verify them. */
export function Domains({ organizationId, domains, canManage }: Props) {
  const t = useMessages()
  const { day } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const params = { parent_lookup_organization_id: organizationId }
  const refresh = () => queries.invalidateQueries({ queryKey: domainsKey(organizationId) })
  const check = useMutation({
    mutationFn: ({ id }: OrganizationDomain) =>
      call(routes.identityProviders.verifyDomain, { params: { ...params, domain_id: id }, body: {} }),
    onSuccess: ({ domain }) => {
      notify.success({ message: t.singleSignOn.domainVerified(domain) })
      return refresh()
    },
  })
  const remove = async ({ id }: OrganizationDomain) => {
    await call(routes.identityProviders.removeDomain, { params: { ...params, domain_id: id } })
    await refresh()
  }
  return (
    <Stack gap="xs">
      <Title order={2}>{t.singleSignOn.domains}</Title>
      <Text size="sm" c="dimmed">
        {t.singleSignOn.domainsIntro}
      </Text>
      {canManage && <NewDomain organizationId={organizationId} onAdded={refresh} />}
      <ProblemAlert error={check.error} />
      {domains.length > 0 && (
        <DataTable
          label={t.singleSignOn.domains}
          head={[t.singleSignOn.domain, t.singleSignOn.record, '']}
          rows={domains.map(domain => ({
            key: domain.id,
            cells: [
              domain.domain,
              domain.verified_at ? (
                <Badge key="verified" variant="light" color="green">
                  {t.singleSignOn.verifiedOn(day(domain.verified_at))}
                </Badge>
              ) : (
                <Record key="record" domain={domain} />
              ),
              canManage ? (
                <Group key="actions" gap={4}>
                  {!domain.verified_at && (
                    <Button
                      variant="subtle"
                      size="compact-sm"
                      loading={check.isPending && check.variables.id === domain.id}
                      onClick={() => check.mutate(domain)}
                    >
                      {t.singleSignOn.checkNow}
                    </Button>
                  )}
                  <ConfirmButton
                    label={t.common.remove}
                    of={domain.domain}
                    question={t.singleSignOn.removeDomainQuestion(domain.domain)}
                    detail={t.singleSignOn.removeDomainDetail}
                    done={t.singleSignOn.removed(domain.domain)}
                    onConfirm={() => remove(domain)}
                  />
                </Group>
              ) : (
                ''
              ),
            ],
          }))}
        />
      )}
    </Stack>
  )
}

/** The TXT record that proves who controls the domain. */
function Record({ domain: { record_name: name, record_value: value } }: { domain: OrganizationDomain }) {
  const t = useMessages()
  return (
    <Stack gap={4}>
      {[
        { text: name, label: t.singleSignOn.copyName },
        { text: value, label: t.singleSignOn.copyValue },
      ].map(({ text, label }) => (
        <Group key={label} gap="xs">
          <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            {text}
          </Text>
          <CopyTextButton value={text} label={label} of={name} />
        </Group>
      ))}
    </Stack>
  )
}

function NewDomain({ organizationId, onAdded }: { organizationId: string; onAdded: () => unknown }) {
  const t = useMessages()
  const call = useCall()
  const [domain, setDomain] = useState('')
  const add = useMutation({
    mutationFn: (submitted: string) =>
      call(routes.identityProviders.addDomain, {
        params: { parent_lookup_organization_id: organizationId },
        body: { domain: submitted },
      }),
    onSuccess: (_, submitted) => {
      setDomain(unlessEdited(submitted, ''))
      return onAdded()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate(domain)
  }
  const atField = fieldProblem(t, add.error, 'domain')
  return (
    <form onSubmit={submit}>
      {!atField && <ProblemAlert error={add.error} />}
      <FormRow>
        <TextField
          label={t.singleSignOn.domain}
          placeholder="acme.com"
          required
          minLength={3}
          maxLength={253}
          value={domain}
          error={atField}
          onChange={event => setDomain(event.currentTarget.value)}
        />
        <Button type="submit" loading={add.isPending}>
          {t.singleSignOn.addDomain}
        </Button>
      </FormRow>
    </form>
  )
}
