import { type StoredCertificate as CertificateWire, certificatesMax, routes } from '@halyard/contract'
import { mismatchOf } from '@halyard/migrate/prove/certificate'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Database, Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import { requireNoViewer } from '../access/grants.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { placeOf } from '../projects/create-project.ts'
import type { StoredCertificate } from './certificate-store.sql.ts'

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
        const mismatch = mismatchOf(body.certificate, await tx.imports.readItems(importId, target))
        if (mismatch) throw invalid(`certificate__${mismatch.field}`, 'invalid_input', mismatch.message)
      }
      const created = await tx.certificates.create(project.id, {
        importId,
        certificate: body.certificate,
        createdAt: now(),
      })
      await tx.certificates.keepNewest(project.id, certificatesMax)
      const { source, file_sha256 } = body.certificate
      const after = { source, file_sha256 }
      const record = {
        scope: 'ImportCertificate',
        itemId: created.id,
        name: source,
        activity: 'created',
        after,
      } as const
      recordAudit(tx, actor, placeOf(project), record, now())
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
      const record = { scope: 'ImportCertificate', itemId: id, name: String(id), activity: 'deleted' } as const
      recordAudit(tx, actor, placeOf(project), record, now())
    })
    return answer({ status: 204 })
  })
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
