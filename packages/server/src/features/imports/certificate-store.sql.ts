import type { CertificateSummary, ImportCertificate } from '@halyard/contract'
import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { readPage } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'

export function sqlCertificateStore(db: Kysely<Tables>) {
  const ofProject = (projectId: number) => db.selectFrom('import_certificates').where('project_id', '=', projectId)
  return {
    async create(projectId: number, { importId, certificate, createdAt }: NewCertificate): Promise<StoredCertificate> {
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
    /** Newest first, without flags and differences. */
    list(projectId: number, window: Window): Promise<PageOf<CertificateSummary>> {
      const query = ofProject(projectId).select(['id', 'import_id', 'summary', 'created_at']).orderBy('id', 'desc')
      return readPage(query, window, row => ({
        id: row.id,
        import: row.import_id,
        created_at: row.created_at,
        ...JSON.parse(row.summary),
      }))
    },
    async find(projectId: number, certificateId: number): Promise<StoredCertificate | undefined> {
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
    async remove(projectId: number, certificateId: number): Promise<void> {
      await db
        .deleteFrom('import_certificates')
        .where('project_id', '=', projectId)
        .where('id', '=', certificateId)
        .execute()
    },
    /** Deletes all but the newest. */
    async keepNewest(projectId: number, count: number): Promise<void> {
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

export interface NewCertificate {
  readonly importId: number | null
  readonly certificate: ImportCertificate
  readonly createdAt: Instant
}

export interface StoredCertificate extends NewCertificate {
  readonly id: number
}
