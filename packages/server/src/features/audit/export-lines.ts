import { type AuditEntry as AuditEntryWire, routes } from '@halyard/contract'
import { shapeChecker } from '../../http/routes/check-body.ts'
import { parseInstant } from '../../instant.ts'
import type { MainDatabase } from '../../stores.ts'
import { version } from '../../version.ts'
import type { AuditEntry } from './audit-store.sql.ts'
import { canonicalJson, type Link } from './verify-chain.ts'

/** What `verifyChain` reads. It reports the line of content that is no entry any more, which must not end the export. */
export function jsonLine({ content, hash, sequence }: AuditEntry): string {
  try {
    return canonicalJson({ ...JSON.parse(content), hash })
  } catch {
    return canonicalJson({ content, hash, sequence })
  }
}

const isEntry = shapeChecker(routes.audit.list.responses[200].properties.results.items)

/** Members in canonical order. What was changed in the database so that it is no entry any more must not hide the others. */
export function readEntry(stored: AuditEntry): AuditEntryWire {
  const entry = JSON.parse(jsonLine(stored))
  if (isEntry(entry)) return entry
  return {
    actor: null,
    address: null,
    at: parseInstant(stored.at) ?? '1970-01-01T00:00:00.000000Z',
    credential: null,
    hash: stored.hash,
    is_unreadable: true,
    note: 'The content of this entry was changed in the database and cannot be read. Run: halyard audit verify',
    objects: [],
    operation: 'unreadable',
    organization: stored.organization_id,
    path: {},
    previous_hash: '',
    request_id: null,
    sequence: stored.sequence,
  }
}

export type ExportFormat = 'jsonl' | 'cef'
const exportedAtOnceMax = 500

/** The text of an export up to an entry, a page at a time. In JSON Lines it ends with that entry as the head. */
export async function* exportPages(
  database: MainDatabase,
  organizationId: string,
  after: number,
  { sequence, hash }: Link,
  format: ExportFormat,
): AsyncGenerator<string> {
  const lineOf = format === 'cef' ? cefLine : jsonLine
  for (let last = after; last < sequence; ) {
    const from = last
    const page = await database.read(tx => tx.audit.listAfter(organizationId, from, exportedAtOnceMax))
    const entries = page.filter(entry => entry.sequence <= sequence)
    if (entries.length === 0) break
    yield entries.map(entry => `${lineOf(entry)}\n`).join('')
    last = entries.at(-1)!.sequence
  }
  if (format === 'jsonl') yield `${canonicalJson({ head: { sequence, hash } })}\n`
}

/** Common Event Format, version 0. The hashes are in custom fields; to verify the content, export JSON Lines. */
export function cefLine(stored: AuditEntry): string {
  const entry = readEntry(stored)
  const [object] = entry.objects
  const extension: Readonly<Record<string, unknown>> = {
    rt: Date.parse(entry.at),
    externalId: entry.sequence,
    suser: entry.actor?.email ?? 'system',
    src: entry.address,
    act: entry.operation,
    reason: entry.note,
    requestId: entry.request_id,
    msg: entry.objects
      .map(({ type, id, activity }) => `${type}/${id} ${activity}`)
      .join(', ')
      .slice(0, 1000),
    cs1Label: 'hash',
    cs1: entry.hash,
    cs2Label: 'previousHash',
    cs2: entry.previous_hash,
    cs3Label: 'organization',
    cs3: entry.organization,
    cs4Label: 'credential',
    cs4: entry.credential ? `${entry.credential.kind} ${entry.credential.label ?? ''}`.trim() : null,
    cs5Label: 'object',
    cs5: object ? `${object.type} ${object.name}` : null,
  }
  const header = [
    'CEF:0',
    'Halyard',
    'Halyard',
    version,
    entry.operation,
    entry.operation,
    entry.is_unreadable ? '10' : '3',
  ]
  const fields = Object.entries(extension).filter(([, value]) => value !== null && value !== undefined && value !== '')
  return `${header.map(escapeHeader).join('|')}|${fields.map(([name, value]) => `${name}=${escapeValue(String(value))}`).join(' ')}`
}

const escapeHeader = (text: string): string => text.replace(/[\\|]/g, '\\$&').replace(/[\r\n]+/g, ' ')
const escapeValue = (text: string): string => text.replace(/[\\=]/g, '\\$&').replace(/\r?\n|\r/g, '\\n')
