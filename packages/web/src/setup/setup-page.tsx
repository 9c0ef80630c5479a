import type { ConnectedSdk, Project } from '@halyard/contract'
import { Alert, Group, Loader, Stack, Text, TextInput, Title } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { snippets } from '../flags/code/snippets.ts'
import { TargetSnippets } from '../flags/code/target-snippets.tsx'
import { useFormats, useMessages } from '../i18n/language.tsx'
import { useFirstCall } from '../services/first-call.ts'
import { useProject } from '../services/session-queries.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'
import { Loaded, Loading } from '../ui/feedback/problems.tsx'
import { Page } from '../ui/layout/page.tsx'

/** How an application connects to this project, and whether it has. */
export function SetupPage() {
  const t = useMessages()
  const { projectId } = useParams({ from: '/shell/project/$projectId/setup' })
  const project = useProject(projectId)
  const { sdks: connected, lastEvaluated, isPending } = useFirstCall(projectId)
  return (
    <Page title={t.setup.title} intro={t.setup.intro}>
      <Loaded query={connected}>
        {sdks =>
          isPending ? (
            <Loading />
          ) : (
            <Stack gap="lg">
              <FirstCall sdks={sdks} lastEvaluated={lastEvaluated} />
              {project && <Snippets project={project} />}
              {sdks.length > 0 && <ConnectedSdks sdks={sdks} />}
            </Stack>
          )
        }
      </Loaded>
    </Page>
  )
}

/** Announced when it changes: the page is left open next to a terminal. */
function FirstCall({ sdks, lastEvaluated }: { sdks: readonly ConnectedSdk[]; lastEvaluated: string | null }) {
  const t = useMessages()
  const [latest] = sdks
  return (
    <div role="status">
      {latest ? (
        <Alert color="green" title={t.setup.received}>
          {t.setup.receivedFrom(nameOf(latest))} <RelativeTime instant={latest.last_seen_at} />
        </Alert>
      ) : lastEvaluated ? (
        <Alert color="green" title={t.setup.evaluated}>
          {t.setup.evaluatedHint} <RelativeTime instant={lastEvaluated} />
        </Alert>
      ) : (
        <Alert color="gray" icon={<Loader size="xs" aria-hidden="true" />} title={t.setup.waiting}>
          {t.setup.waitingHint}
        </Alert>
      )}
    </div>
  )
}

function Snippets({ project }: { project: Project }) {
  const t = useMessages()
  const [key, setKey] = useState('my-flag')
  const flag = { key: key || 'my-flag', variants: [], hasPayload: false, groupType: undefined }
  return (
    <section>
      <Title order={2} mb="xs">
        {t.setup.connect}
      </Title>
      <Stack>
        <TextInput
          label={t.setup.flagKey}
          description={t.setup.flagKeyHint}
          maxLength={400}
          maw={360}
          value={key}
          onChange={event => setKey(event.currentTarget.value)}
        />
        <TargetSnippets
          all={snippets({ flag, host: window.location.origin, token: project.api_token })}
          label={t.setup.connect}
        />
      </Stack>
    </section>
  )
}

function ConnectedSdks({ sdks }: { sdks: readonly ConnectedSdk[] }) {
  const t = useMessages()
  const { count } = useFormats()
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{t.setup.connected}</Title>
        <Text size="sm" c="dimmed">
          {t.setup.connectedHint}
        </Text>
      </Group>
      <DataTable
        label={t.setup.connected}
        head={[t.setup.library, t.setup.version, t.setup.calls, t.setup.lastSeen]}
        rows={sdks.map(sdk => ({
          key: nameOf(sdk),
          cells: [
            sdk.library,
            sdk.version || t.common.none,
            count(sdk.calls),
            <RelativeTime key="seen" instant={sdk.last_seen_at} />,
          ],
        }))}
      />
    </section>
  )
}

const nameOf = ({ library, version }: ConnectedSdk): string => (version === '' ? library : `${library} ${version}`)
