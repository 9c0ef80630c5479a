import { routes } from '@halyard/contract'
import { Button, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useCall } from '../services/services.ts'
import { useCanWrite } from '../services/session-queries.ts'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { useNotify } from '../ui/feedback/notify.ts'
import { ProblemAlert } from '../ui/feedback/problems.tsx'
import { FlagIcon } from '../ui/icons.tsx'
import { FirstSteps } from './first-steps.tsx'

/** What a project without flags offers. */
export function StartProject({ projectId }: { projectId: string }) {
  const t = useMessages()
  if (!useCanWrite(projectId))
    return <EmptyState Icon={FlagIcon} title={t.flags.emptyTitle} text={t.flags.emptyReadOnly} />
  return (
    <Stack gap="xl">
      <div>
        <Title order={2}>{t.flags.emptyTitle}</Title>
        <Text c="dimmed" size="sm">
          {t.flags.emptyText}
        </Text>
      </div>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Start title={t.start.create} text={t.start.createText}>
          <Button renderRoot={props => <Link {...props} to="/project/$projectId/flags/new" params={{ projectId }} />}>
            {t.flags.create}
          </Button>
        </Start>
        <Start title={t.start.import} text={t.start.importText}>
          <Button
            variant="default"
            renderRoot={props => <Link {...props} to="/project/$projectId/settings/import" params={{ projectId }} />}
          >
            {t.imports.title}
          </Button>
        </Start>
        <LoadDemo projectId={projectId} />
      </SimpleGrid>
      <FirstSteps projectId={projectId} hasFlags={false} />
    </Stack>
  )
}

function Start({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <Paper withBorder p="md" radius="lg">
      <Stack h="100%" align="flex-start" gap="xs">
        <Title order={3}>{title}</Title>
        <Text size="sm" c="dimmed" flex={1}>
          {text}
        </Text>
        {children}
      </Stack>
    </Paper>
  )
}

function LoadDemo({ projectId }: { projectId: string }) {
  const t = useMessages()
  const { count } = useFormats()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const load = useMutation({
    mutationFn: () => call(routes.projects.loadDemo, { params: { project_id: projectId } }),
    onSuccess: ({ flags, people }) => {
      notify.success({ message: t.start.demoLoaded(count(flags), count(people)) })
      return queries.invalidateQueries()
    },
  })
  return (
    <Start title={t.start.demo} text={t.start.demoText}>
      <Button variant="default" loading={load.isPending} onClick={() => load.mutate()}>
        {t.start.loadDemo}
      </Button>
      <ProblemAlert error={load.error} />
    </Start>
  )
}
