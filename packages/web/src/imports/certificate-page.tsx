import { type ImportCertificate, routes, type StoredCertificate } from '@halyard/contract'
import { Badge, Button, Code, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useMessages } from '../i18n/language.tsx'
import { useApiQuery } from '../services/use-api-query.ts'
import { downloadText } from '../ui/data/csv.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { Pagination } from '../ui/data/pagination.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'
import { Loaded } from '../ui/feedback/problems.tsx'
import { Page } from '../ui/layout/page.tsx'
import { VerdictBadge } from './certificate-list.tsx'

const flagsPerPage = 100

/** What comparing an import with the service's own SDK has shown. */
export function CertificatePage() {
  const t = useMessages()
  const { projectId, certificateId } = useParams({
    from: '/shell/project/$projectId/import/certificates/$certificateId',
  })
  const query = useApiQuery(['import-certificate', projectId, certificateId], routes.importCertificates.get, {
    params: { project_id: projectId, certificate_id: certificateId },
  })
  return (
    <Page
      title={t.imports.certificate}
      parents={[{ label: t.imports.title, to: `/project/${projectId}/settings/import` }]}
      intro={t.imports.certificateIntro}
    >
      <Loaded query={query}>{stored => <Certificate stored={stored} />}</Loaded>
    </Page>
  )
}

function Certificate({ stored: { id, created_at, certificate } }: { stored: StoredCertificate }) {
  const t = useMessages()
  return (
    <Stack>
      <Group justify="space-between">
        <Group gap="xs">
          <VerdictBadge differing={certificate.differing} />
          <Text size="sm" c="dimmed">
            <RelativeTime instant={created_at} />
          </Text>
        </Group>
        <Button
          variant="default"
          onClick={() =>
            downloadText(`certificate-${id}.json`, 'application/json', JSON.stringify(certificate, null, 2))
          }
        >
          {t.imports.download}
        </Button>
      </Group>
      <Numbers certificate={certificate} />
      <Facts certificate={certificate} />
      <Differences certificate={certificate} />
      <Flags flags={certificate.flags} />
    </Stack>
  )
}

function Numbers({ certificate }: { certificate: ImportCertificate }) {
  const t = useMessages()
  const { pairs, equal, differing, declared, sdk_errors: errors, contexts } = certificate
  const numbers: [string, number][] = [
    [t.imports.comparisons, pairs],
    [t.imports.equal, equal],
    [t.imports.differing, differing],
    [t.imports.declared, declared],
    [t.imports.sdkErrors, errors],
    [t.imports.people, contexts],
  ]
  return (
    <SimpleGrid cols={{ base: 2, sm: 3 }}>
      {numbers.map(([label, value]) => (
        <Paper key={label} withBorder p="sm">
          <Text size="xs" c="dimmed">
            {label}
          </Text>
          <Text fw={600}>{t.imports.number(value)}</Text>
        </Paper>
      ))}
    </SimpleGrid>
  )
}

function Facts({ certificate }: { certificate: ImportCertificate }) {
  const t = useMessages()
  const facts: [string, string][] = [
    [t.imports.comparedWith, `${certificate.sdk} ${certificate.sdk_version}`],
    ['Halyard', certificate.halyard_version],
    ['Node.js', certificate.node_version],
    [t.imports.seed, String(certificate.seed)],
    ...(certificate.environment === null
      ? []
      : ([[t.imports.environment, certificate.environment]] as [string, string][])),
    [t.imports.digest, certificate.file_sha256],
  ]
  return (
    <Stack gap={4}>
      {facts.map(([label, value]) => (
        <Text key={label} size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Text span c="dimmed">
            {label}:
          </Text>{' '}
          {value}
        </Text>
      ))}
    </Stack>
  )
}

const asJson = (value: unknown): string => JSON.stringify(value, null, 2)

function Differences({ certificate: { differences, sdk } }: { certificate: ImportCertificate }) {
  const t = useMessages()
  if (differences.length === 0) return null
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t.imports.differences}
      </Title>
      {differences.map(({ flag, status, context, there, here, there_trace, here_trace }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes.
        <Paper key={index} withBorder p="sm">
          <Group gap="xs">
            <Text fw={600}>{flag}</Text>
            <Badge variant="light" color={status === 'exact' ? 'red' : 'yellow'}>
              {t.imports.statuses[status]}
            </Badge>
          </Group>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {t.imports.differs(context.id, JSON.stringify(there), JSON.stringify(here))}
          </Text>
          <details>
            <summary>{t.imports.traces}</summary>
            <SimpleGrid cols={{ base: 1, md: 2 }} mt="xs">
              <Trace label={sdk} value={there_trace} />
              <Trace label="Halyard" value={here_trace} />
            </SimpleGrid>
            <Trace label={t.imports.person} value={context} />
          </details>
        </Paper>
      ))}
    </Stack>
  )
}

const Trace = ({ label, value }: { label: string; value: unknown }) => (
  <div style={{ minWidth: 0 }}>
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Code block tabIndex={0} role="group" aria-label={label} mah={320} style={{ overflow: 'auto' }}>
      {asJson(value)}
    </Code>
  </div>
)

function Flags({ flags }: { flags: ImportCertificate['flags'] }) {
  const t = useMessages()
  const [offset, setOffset] = useState(0)
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {t.imports.provedFlags}
      </Title>
      <DataTable
        label={t.imports.provedFlags}
        head={[t.imports.key, t.imports.status, t.imports.comparisons, t.imports.equal, t.imports.reasons]}
        rows={flags.slice(offset, offset + flagsPerPage).map(({ key, status, reasons, pairs, equal }) => ({
          key,
          cells: [
            key,
            t.imports.statuses[status],
            t.imports.number(pairs),
            t.imports.number(equal),
            reasons.length === 0 ? '–' : reasons.join(' '),
          ],
        }))}
      />
      {flags.length > flagsPerPage && (
        <Pagination count={flags.length} offset={offset} pageSize={flagsPerPage} onChange={setOffset} />
      )}
    </Stack>
  )
}
