import { codeRepositoriesMax } from '@halyard/contract/limits'
import type { Kysely } from 'kysely'
import type { PageOf, Window } from '../../pagination.ts'
import { invalid } from '../../problem.ts'
import { inParts } from '../../storage/in-batches.ts'
import { countRows, readPage } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { CodeReference, CodeRepository, CodeScan, CodeUse } from './code-reference.ts'

const rowsPerStatement = 500

export function sqlCodeReferenceStore(db: Kysely<Tables>) {
  const repositories = (projectId: number) =>
    db
      .selectFrom('code_repositories')
      .select(['id', 'name', 'branch', 'commit_hash', 'scanned_at'])
      .select(({ selectFrom }) =>
        selectFrom('code_references')
          .select(({ fn }) => fn.countAll<number>().as('n'))
          .whereRef('code_references.repository_id', '=', 'code_repositories.id')
          .as('references'),
      )
      .where('project_id', '=', projectId)

  const references = (projectId: number, flagKey: string) =>
    db
      .selectFrom('code_references')
      .innerJoin('code_repositories', 'code_repositories.id', 'code_references.repository_id')
      .where('code_references.project_id', '=', projectId)
      .where('code_references.flag_key', '=', flagKey)

  return {
    /** Replaces all references of the repository. Raises `invalid` when the project has too many repositories. */
    async replace(projectId: number, scan: CodeScan, references: readonly CodeReference[]): Promise<CodeRepository> {
      // The row is locked until the end of the transaction, so that two scans do not mix their references.
      const { id } = await db
        .insertInto('code_repositories')
        .values({ project_id: projectId, name: scan.repository, ...scanned(scan) })
        .onConflict(conflict => conflict.columns(['project_id', 'name']).doUpdateSet(scanned(scan)))
        .returning('id')
        .executeTakeFirstOrThrow()
      const repositoryCount = await countRows(db.selectFrom('code_repositories').where('project_id', '=', projectId))
      if (repositoryCount > codeRepositoriesMax) {
        throw invalid(
          'repository',
          'limit_reached',
          `A project can have at most ${codeRepositoriesMax} repositories. Delete one first.`,
        )
      }
      await db.deleteFrom('code_references').where('repository_id', '=', id).execute()
      for (const part of inParts(references, rowsPerStatement)) {
        await db
          .insertInto('code_references')
          .values(
            part.map(({ flagKey, path, line, excerpt }) => ({
              repository_id: id,
              project_id: projectId,
              flag_key: flagKey,
              path,
              line,
              excerpt,
            })),
          )
          .execute()
      }
      return { ...scan, id, referenceCount: references.length }
    },
    /** By name. */
    async listRepositories(projectId: number): Promise<readonly CodeRepository[]> {
      const rows = await repositories(projectId).orderBy('name').execute()
      return rows.map(row => ({ id: row.id, ...toScan(row), referenceCount: Number(row.references ?? 0) }))
    },
    /** False when the project has no such repository. */
    async removeRepository(projectId: number, repositoryId: number): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('code_repositories')
        .where('project_id', '=', projectId)
        .where('id', '=', repositoryId)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
    /** By repository, path and line. */
    listOfFlag(projectId: number, flagKey: string, window: Window): Promise<PageOf<CodeReference & CodeScan>> {
      const ordered = references(projectId, flagKey)
        .select(['name', 'branch', 'commit_hash', 'scanned_at', 'flag_key', 'path', 'line', 'excerpt'])
        .orderBy('name')
        .orderBy('path')
        .orderBy('line')
      return readPage(ordered, window, row => ({
        ...toScan(row),
        flagKey: row.flag_key,
        path: row.path,
        line: row.line,
        excerpt: row.excerpt,
      }))
    },
    async useOf(projectId: number, flagKey: string): Promise<CodeUse> {
      const rows = await references(projectId, flagKey)
        .select(['name', ({ fn }) => fn.countAll<number>().as('n')])
        .groupBy('name')
        .orderBy('name')
        .execute()
      return { count: rows.reduce((sum, { n }) => sum + Number(n), 0), repositories: rows.map(({ name }) => name) }
    },
  }
}

const scanned = (scan: { branch: string | null; commit: string | null; scannedAt: string }) => ({
  branch: scan.branch,
  commit_hash: scan.commit,
  scanned_at: scan.scannedAt,
})

const toScan = (row: { name: string; branch: string | null; commit_hash: string | null; scanned_at: string }) => ({
  repository: row.name,
  branch: row.branch,
  commit: row.commit_hash,
  scannedAt: row.scanned_at,
})
