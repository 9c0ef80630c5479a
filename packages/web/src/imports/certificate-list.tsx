import { type CertificateSummary, routes } from '@halyard/contract'
import { Badge, Stack, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMessages } from '../i18n/language.tsx'
import { useApiQuery } from '../services/use-api-query.ts'
import { DataTable } from '../ui/data/data-table.tsx'
import { RelativeTime } from '../ui/data/relative-time.tsx'

/** The proofs of this project's imports; nothing when there are none. */
export function CertificateList({ projectId }: { projectId: string }) {
  const t = useMessages()
  const { data } = useApiQuery(['import-certificates', projectId], routes.importCertificates.list, {
    params: { project_id: projectId },
    query: { limit: '50' },
  })
  if (!data || data.results.length === 0) return null
  return (
    <Stack mt="xl">
      <Title order={2} size="h4">
        {t.imports.certificates}
      </Title>
      <DataTable
        label={t.imports.certificates}
        head={[t.imports.comparedWith, t.imports.comparisons, t.imports.verdict, t.imports.created]}
        rows={data.results.map(certificate => ({
          key: certificate.id,
          cells: [
            <Link
              key="sdk"
              to="/project/$projectId/import/certificates/$certificateId"
              params={{ projectId, certificateId: String(certificate.id) }}
            >
              {certificate.sdk} {certificate.sdk_version}
            </Link>,
            t.imports.number(certificate.pairs),
            <VerdictBadge key="verdict" differing={certificate.differing} />,
            <RelativeTime key="created" instant={certificate.created_at} />,
          ],
        }))}
      />
    </Stack>
  )
}

export function VerdictBadge({ differing }: Pick<CertificateSummary, 'differing'>) {
  const t = useMessages()
  return (
    <Badge variant="light" color={differing === 0 ? 'green' : 'red'}>
      {differing === 0 ? t.imports.proved : t.imports.disproved(differing)}
    </Badge>
  )
}
