import {
  type CodeReferencesWrite,
  type CodeReference as ReferenceWire,
  type CodeRepository as RepositoryWire,
  routes,
} from '@halyard/contract'
import { storable } from '../../domain/distinct-id.ts'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { invalid, missing } from '../../problem.ts'
import { requireNoViewer } from '../access/grants.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { getFlag } from '../flags/flag-routes.ts'
import { placeOf } from '../projects/create-project.ts'
import type { CodeReference, CodeRepository, CodeScan } from './code-reference.ts'

/** Serves where source code names flags. */
export function serveCodeReferences(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.codeReferences

  serve(r.replace, ({ actor, project, body }) => {
    const repository = storable(body.repository).trim()
    if (repository === '') throw invalid('repository', 'blank', '`repository` must not be blank.')
    const references = readReferences(body.references)
    const [branch, commit] = [body.branch, body.commit].map(text => (text ? storable(text) : null)) as [
      string | null,
      string | null,
    ]
    return database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      const scan = { repository, branch, commit, scannedAt: now() }
      const replaced = await tx.codeReferences.replace(project.id, scan, references)
      const after = { branch, commit, references: references.length }
      const record = {
        scope: 'CodeRepository',
        itemId: replaced.id,
        name: repository,
        activity: 'replaced',
        after,
      } as const
      recordAudit(tx, actor, placeOf(project), record, now())
      return repositoryToWire(replaced)
    })
  })

  serve(r.listRepositories, async ({ project }) => {
    const all = await database.query(tx => tx.codeReferences.listRepositories(project.id))
    return all.map(repositoryToWire)
  })

  serve(r.removeRepository, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      const isRemoved = await tx.codeReferences.removeRepository(project.id, Number(params.repository_id))
      if (!isRemoved) throw missing('Repository')
      const id = params.repository_id
      const record = { scope: 'CodeRepository', itemId: id, name: id, activity: 'deleted' } as const
      recordAudit(tx, actor, placeOf(project), record, now())
    })
    return answer({ status: 204 })
  })

  serve(r.listOfFlag, ({ project, params, query, url }) =>
    database.read(async tx => {
      const { key } = await getFlag(tx, project, params.id)
      const window = readWindow(query)
      return pageBody(await tx.codeReferences.listOfFlag(project.id, key, window), window, url, referenceToWire)
    }),
  )
}

/** A line that names a flag several times is one reference. */
function readReferences(sent: CodeReferencesWrite['references']): readonly CodeReference[] {
  const references = new Map<string, CodeReference>()
  for (const { flag_key, path, line, excerpt = '' } of sent) {
    const reference = { flagKey: storable(flag_key), path: storable(path), line, excerpt: storable(excerpt) }
    references.set(JSON.stringify([reference.path, line, reference.flagKey]), reference)
  }
  return [...references.values()]
}

const repositoryToWire = (repository: CodeRepository): RepositoryWire => ({
  id: repository.id,
  name: repository.repository,
  branch: repository.branch,
  commit: repository.commit,
  scanned_at: repository.scannedAt,
  reference_count: repository.referenceCount,
})

const referenceToWire = ({ repository, branch, commit, path, line, excerpt, scannedAt }: CodeReference & CodeScan) =>
  ({ repository, branch, commit, path, line, excerpt, scanned_at: scannedAt }) satisfies ReferenceWire
