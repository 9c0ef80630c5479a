import {
  type StoredCertificate as CertificateWire,
  certificatesMax,
  type ImportCertificate,
  routes,
} from '@halyard/contract'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { requireNoViewer } from '../access/grants.ts'
import type { StoredCertificate } from './certificate-store.ts'
import type { PlannedItem } from './import-plan.ts'

/** Serves the certificates of imports: what comparing with the service's own SDK has shown. */
export function serveCertificates(
  serve: ServeRoute,
  { database, now }: { readonly database: Database; readonly now: () => Instant },
): void {
  const r = routes.importCertificates

  serve(r.list, ({ project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      return pageBody(await tx.certificates.list(project.id, window), window, url, item => item)
    }),
  )

  serve(r.create, ({ actor, project, body }) =>
    database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      const importId = body.import ?? null
      if (importId !== null) {
        const plan = await tx.imports.findPlan(project.organizationId, importId, now())
        const target = plan?.targets.findIndex(({ projectId }) => projectId === project.id) ?? -1
        if (target === -1)
          throw invalid('import', 'does_not_exist', `There is no import ${importId} into this project.`)
        requireSameFlags(body.certificate, await tx.imports.readItems(importId, target))
      }
      const created = await tx.certificates.create(project.id, {
        importId,
        certificate: body.certificate,
        createdAt: now(),
      })
      await tx.certificates.keepNewest(project.id, certificatesMax)
      return toWire(created)
    }),
  )

  serve(r.get, ({ project, params }) =>
    database.read(async tx => toWire(await getCertificate(tx, project, params.certificate_id))),
  )

  serve(r.remove, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      const { id } = await getCertificate(tx, project, params.certificate_id)
      await tx.certificates.remove(project.id, id)
    })
    return answer({ status: 204 })
  })
}

/** A certificate of another conversion would prove nothing about the import. Raises `invalid`. */
function requireSameFlags(certificate: ImportCertificate, items: readonly PlannedItem[]): void {
  const flags = items.filter(({ kind }) => kind === 'flag')
  for (const status of ['exact', 'approximate', 'refused'] as const) {
    const count = flags.filter(flag => flag.status === status).length
    if (certificate[status] === count) continue
    const message = `The import has ${count} flags that are ${status}, the certificate ${certificate[status]}; prove this import.`
    throw invalid(`certificate__${status}`, 'invalid_input', message)
  }
  const statuses = new Map(flags.map(({ sourceKey, status }) => [sourceKey, status]))
  for (const [index, { key, status }] of certificate.flags.entries()) {
    if (statuses.get(key) === status) continue
    const message = `The flag is ${statuses.get(key) ?? 'missing'} in the import; prove this import.`
    throw invalid(`certificate__flags__${index}`, 'invalid_input', message)
  }
}

async function getCertificate(tx: Stores, { id }: Project, certificateId: string): Promise<StoredCertificate> {
  const certificate = await tx.certificates.find(id, Number(certificateId))
  if (!certificate) throw missing('Certificate')
  return certificate
}

const toWire = ({ id, importId, createdAt, certificate }: StoredCertificate): CertificateWire => ({
  id,
  import: importId,
  created_at: createdAt,
  certificate,
})
