import { type FlagDetails, flagLinksMax, routes } from '@halyard/contract'
import { ActionIcon, Button, Group, NativeSelect, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useMembers } from '../../services/member-queries.ts'
import { useCall } from '../../services/services.ts'
import { useApiQuery } from '../../services/use-api-query.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { fieldProblem } from '../../ui/feedback/problem-text.ts'
import { combineQueries, Loaded, ProblemAlert } from '../../ui/feedback/problems.tsx'
import { CrossIcon, PlusIcon } from '../../ui/icons.tsx'
import { FlagDependencies } from '../dependencies/flag-dependencies.tsx'
import { useDependencies } from '../dependencies/use-dependencies.ts'
import type { TabProps } from '../flag-tabs.ts'
import { FlagComments } from './flag-comments.tsx'
import { HealthBadges } from './health-badges.tsx'
import { PayloadSchemaForm } from './payload-schema.tsx'

/** Who looks after the flag, until when, and what is written about it. */
export function FlagDetailsTab({ flag, project }: TabProps) {
  const t = useMessages()
  const call = useCall()
  const params = { project_id: String(project.id), id: String(flag.id) }
  const details = useApiQuery(['flag-details', params.project_id, params.id], routes.flagDetails.getDetails, { params })
  const schema = useApiQuery(['payload-schema', params.project_id, params.id], routes.payloadSchemas.get, { params })
  const dependencies = useDependencies(params.project_id, params.id)
  const members = useMembers(project.organization)
  const checks = useQuery({
    queryKey: ['flag-health', params.project_id, 'flag', params.id, flag.version],
    queryFn: async ({ signal }) =>
      (
        await call(routes.flagDetails.health, {
          params: { project_id: params.project_id },
          query: { flag_id: params.id },
          signal,
        })
      ).results[0]?.checks ?? [],
  })
  return (
    <Loaded query={combineQueries({ details, schema, members, checks, dependencies })}>
      {loaded => (
        <Stack gap="lg">
          {loaded.checks.length > 0 && (
            <Paper withBorder p="md" radius="lg" component="section">
              <Title order={2} mb="xs">
                {t.health.title}
              </Title>
              <HealthBadges checks={loaded.checks} />
              <Text size="sm" c="dimmed" mt="xs">
                {loaded.checks.map(check => t.health.hints[check]).join(' ')}
              </Text>
            </Paper>
          )}
          <DetailsForm
            key={JSON.stringify(loaded.details)}
            params={params}
            details={loaded.details}
            members={loaded.members.map(({ user }) => user)}
            canEdit={flag.can_edit && !flag.deleted}
          />
          <PayloadSchemaForm params={params} stored={loaded.schema} canEdit={flag.can_edit && !flag.deleted} />
          <FlagDependencies projectId={params.project_id} flagId={flag.id} dependencies={loaded.dependencies} />
          <FlagComments params={params} organizationId={project.organization} />
        </Stack>
      )}
    </Loaded>
  )
}

interface FormProps {
  params: { project_id: string; id: string }
  details: FlagDetails
  members: readonly { readonly uuid: string; readonly first_name: string; readonly email: string }[]
  canEdit: boolean
}

function DetailsForm({ params, details, members, canEdit }: FormProps) {
  const t = useMessages()
  const call = useCall()
  const notify = useNotify()
  const queries = useQueryClient()
  const [owner, setOwner] = useState(details.owner?.uuid ?? '')
  const [expectedEnd, setExpectedEnd] = useState(details.expected_end ?? '')
  const [links, setLinks] = useState<readonly { title: string; url: string }[]>(details.links)
  const setLink = (index: number, change: { title?: string; url?: string }) =>
    setLinks(links.map((link, at) => (at === index ? { ...link, ...change } : link)))
  const save = useMutation({
    mutationFn: () =>
      call(routes.flagDetails.updateDetails, {
        params,
        body: {
          owner: owner || null,
          expected_end: expectedEnd || null,
          links: links.map(({ title, url }) => ({ title: title || url, url })),
        },
      }),
    onSuccess: saved => {
      queries.setQueryData(['flag-details', params.project_id, params.id], saved)
      queries.invalidateQueries({ queryKey: ['flag-health', params.project_id] })
      notify.success({ message: t.flagDetails.saved })
    },
  })
  const linkProblem = fieldProblem(t, save.error, 'links')
  return (
    <Paper withBorder p="md" radius="lg" component="section" aria-label={t.flagDetails.title}>
      <Stack gap="sm">
        <Title order={2}>{t.flagDetails.title}</Title>
        {!linkProblem && <ProblemAlert error={save.error} />}
        <NativeSelect
          label={t.health.owner}
          maw={560}
          disabled={!canEdit}
          value={owner}
          onChange={event => setOwner(event.currentTarget.value)}
          data={[
            { value: '', label: t.common.none },
            ...members.map(({ uuid, first_name, email }) => ({
              value: uuid,
              label: first_name ? `${first_name} (${email})` : email,
            })),
          ]}
        />
        <TextInput
          type="date"
          label={t.flagDetails.expectedEnd}
          description={t.flagDetails.expectedEndHint}
          maw={360}
          disabled={!canEdit}
          value={expectedEnd}
          onChange={event => setExpectedEnd(event.currentTarget.value)}
        />
        <Text size="sm" fw={500}>
          {t.flagDetails.links}
        </Text>
        {links.map((link, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: links have no identity but their place.
          <Group key={index} gap="xs" align="flex-start" role="group" aria-label={t.flagDetails.link(index + 1)}>
            <TextInput
              aria-label={t.flagDetails.linkTitle}
              placeholder={t.flagDetails.linkTitle}
              disabled={!canEdit}
              maxLength={200}
              value={link.title}
              onChange={event => setLink(index, { title: event.currentTarget.value })}
            />
            <TextInput
              aria-label={t.flagDetails.linkUrl}
              placeholder="https://"
              flex={1}
              miw={180}
              disabled={!canEdit}
              maxLength={2000}
              value={link.url}
              error={linkProblem && !/^https?:\/\/\S+$/.test(link.url) ? t.flagDetails.linkInvalid : undefined}
              onChange={event => setLink(index, { url: event.currentTarget.value })}
            />
            {canEdit && (
              <ActionIcon
                variant="subtle"
                color="gray"
                mt={4}
                aria-label={t.flagDetails.removeLink(index + 1)}
                onClick={() => setLinks(links.filter((_, at) => at !== index))}
              >
                <CrossIcon size={16} />
              </ActionIcon>
            )}
          </Group>
        ))}
        {canEdit && (
          <Group justify="space-between">
            <Button
              variant="subtle"
              size="compact-sm"
              leftSection={<PlusIcon size={14} />}
              disabled={links.length >= flagLinksMax}
              onClick={() => setLinks([...links, { title: '', url: '' }])}
            >
              {t.flagDetails.addLink}
            </Button>
            <Button loading={save.isPending} onClick={() => save.mutate()}>
              {t.common.save}
            </Button>
          </Group>
        )}
      </Stack>
    </Paper>
  )
}
