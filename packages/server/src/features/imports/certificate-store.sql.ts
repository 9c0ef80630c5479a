import type { Kysely } from 'kysely'
import { readPage } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { CertificateStore } from './certificate-store.ts'

export function sqlCertificateStore(db: Kysely<Tables>): CertificateStore {
  const ofProject = (projectId: number) => db.selectFrom('import_certificates').where('project_id', '=', projectId)
  return {
    async create(projectId, { importId, certificate, createdAt }) {
      const { flags: _, differences: __, ...summary } = certificate
      const { id } = await db
        .insertInto('import_certificates')
        .values({
          project_id: projectId,
          import_id: importId,
          summary: JSON.stringify(summary),
          certificate: JSON.stringify(certificate),
          created_at: createdAt,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { id, importId, certificate, createdAt }
    },
    list(projectId, window) {
      const query = ofProject(projectId).select(['id', 'import_id', 'summary', 'created_at']).orderBy('id', 'desc')
      return readPage(query, window, row => ({
        id: row.id,
        import: row.import_id,
        created_at: row.created_at,
        ...JSON.parse(row.summary),
      }))
    },
    async find(projectId, certificateId) {
      const row = await ofProject(projectId).selectAll().where('id', '=', certificateId).executeTakeFirst()
      return (
        row && {
          id: row.id,
          importId: row.import_id,
          certificate: JSON.parse(row.certificate),
          createdAt: row.created_at,
        }
      )
    },
    async remove(projectId, certificateId) {
      await db
        .deleteFrom('import_certificates')
        .where('project_id', '=', projectId)
        .where('id', '=', certificateId)
        .execute()
    },
    async keepNewest(projectId, count) {
      const oldest = await ofProject(projectId)
        .select('id')
        .orderBy('id', 'desc')
        .offset(count)
        .limit(1)
        .executeTakeFirst()
      if (!oldest) return
      await db
        .deleteFrom('import_certificates')
        .where('project_id', '=', projectId)
        .where('id', '<=', oldest.id)
        .execute()
    },
  }
}
