import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { routes } from '@halyard/contract'
import { readWindow } from '../../http/routes/page-links.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { parseInstant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { SecretBox } from '../../storage/secret-box.ts'
import type { Database, Stores } from '../../stores.ts'
import type { AuditFilter, AuditHead } from './audit-store.sql.ts'
import { findCheckpointKey, getCheckpointKey } from './checkpoint-key.ts'
import { type ExportFormat, exportPages, readEntry } from './export-lines.ts'
import { firstPreviousHash } from './verify-chain.ts'

const searchMillisecondsMax = 5000

interface Deps {
  readonly database: Database
  readonly secretBox: SecretBox
}

export function serveAudit(serve: ServeRoute, { database, secretBox }: Deps): void {
  const r = routes.audit

  serve(r.list, ({ organization, query, url }) =>
    database.read(
      async tx => {
        const { limit } = readWindow(query)
        const filter = { organizationId: organization.id, ...(await readFilter(tx, query)) }
        const entries = await tx.audit.list(filter, limit + 1)
        const shown = entries.slice(0, limit)
        return {
          next: entries.length > limit ? linkBefore(url, shown.at(-1)!.sequence) : null,
          results: shown.map(readEntry),
        }
      },
      { statementMillisecondsMax: searchMillisecondsMax },
    ),
  )

  serve(r.head, async ({ organization }) => {
    const { sequence, hash, pruned } = await headOf(organization.id)
    const key =
      (await database.read(tx => findCheckpointKey(tx.instance, secretBox))) ??
      (await database.transaction(tx => getCheckpointKey(tx.instance, secretBox)))
    return { sequence, hash, pruned, checkpoint_key: key.fingerprint }
  })

  serve(r.export, async ({ organization, query }) => {
    const { format = 'jsonl' } = query
    if (format !== 'jsonl' && format !== 'cef') {
      throw invalid('format', 'invalid_choice', '`format` must be jsonl or cef.')
    }
    const after = sequenceOf(query.after) ?? 0
    const head = await headOf(organization.id)
    return answer({
      status: 200,
      takeOver(response, headers) {
        response.writeHead(200, {
          ...headers,
          'content-type': format === 'cef' ? 'text/plain; charset=utf-8' : 'application/x-ndjson',
          'content-disposition': `attachment; filename="audit-log.${format}"`,
        })
        writeExport(response, head, after, format).catch(error => response.destroy(error))
        return undefined
      },
    })
  })

  const headOf = async (organizationId: string): Promise<AuditHead> =>
    (await database.read(tx => tx.audit.findHead(organizationId))) ?? {
      organizationId,
      sequence: 0,
      hash: firstPreviousHash,
      pruned: { sequence: 0, hash: firstPreviousHash },
    }

  /** Up to the head of the moment in which it began. */
  async function writeExport(response: ServerResponse, head: AuditHead, after: number, format: ExportFormat) {
    for await (const text of exportPages(database, head.organizationId, after, head, format)) {
      if (response.destroyed) return
      if (!response.write(text)) await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
    response.end()
  }
}

function linkBefore(url: URL, sequence: number): string {
  const link = new URL(url)
  link.searchParams.set('before', String(sequence))
  return link.href
}

const sequenceOf = (text: string | undefined): number | undefined =>
  /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined

type Query = Partial<Record<'user' | 'object' | 'operation' | 'date_from' | 'date_to' | 'search' | 'before', string>>

/** An unknown user matches no entries. */
async function readFilter(tx: Stores, query: Query): Promise<Omit<AuditFilter, 'organizationId'>> {
  return {
    userId: query.user ? await userIdOf(tx, query.user) : undefined,
    object: query.object || undefined,
    operation: query.operation || undefined,
    from: readInstant('date_from', query.date_from),
    to: readInstant('date_to', query.date_to),
    search: query.search?.trim() || undefined,
    before: sequenceOf(query.before),
  }
}

function readInstant(name: string, text: string | undefined) {
  if (!text) return undefined
  const instant = parseInstant(text)
  if (instant === undefined) throw invalid(name, 'invalid_input', `\`${name}\` must be an ISO 8601 date-time.`)
  return instant
}

async function userIdOf(tx: Stores, text: string): Promise<number> {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const find = text.includes('@') ? tx.identity.findAccountByEmail : tx.identity.findAccountByUuid
  return (await find(text))?.id ?? -1
}
