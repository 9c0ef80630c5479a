import { type Kysely, type Selectable, sql } from 'kysely'
import type { NewActivity } from '../../domain/activity.ts'
import type { Instant } from '../../instant.ts'
import { type Origin, originOf } from '../../origin.ts'
import { isSqlite, pipelinedWrite, preparedQuery } from '../../storage/prepared-query.ts'
import type { TransactionEnd } from '../../storage/sql-database.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { contains } from '../../storage/text-search.ts'
import { type AuditRow, auditRow, contentOf, type NewAuditEntry } from './audit-entry.ts'
import { firstPreviousHash, type Link, sha256 } from './verify-chain.ts'

/** An entry as it is stored. Its hash is that of its content, in canonical JSON. */
export type AuditEntry = Readonly<Selectable<Tables['audit_entries']>>

export interface AuditFilter {
  readonly organizationId: string
  readonly userId?: number | undefined
  readonly operation?: string | undefined
  /** `FeatureFlag/12` */
  readonly object?: string | undefined
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
  /** Text that the entry contains, in any case. */
  readonly search?: string | undefined
  /** Only entries with a smaller sequence. */
  readonly before?: number | undefined
}

/**
 * Advances the head and inserts the entry in one statement that need not be awaited: PostgreSQL computes the hash. The row of the head is
 * locked until commit, so that entries are numbered in commit order.
 */
const appendHashed = pipelinedWrite((db, row: AuditRow) => {
  const contentAfter = (previous: ReturnType<typeof sql>, sequence: ReturnType<typeof sql>) =>
    sql`(select entry_start from given) || ${previous} || (select entry_middle from given) || ${sequence} || '}'`
  const hashOf = (content: ReturnType<typeof sql>) => sql`encode(sha256(convert_to(${content}, 'UTF8')), 'hex')`
  const first = sql.lit(firstPreviousHash)
  const next = sql`sequence = audit_heads.sequence + 1, previous_hash = audit_heads.hash,
    hash = ${hashOf(contentAfter(sql`audit_heads.hash`, sql`(audit_heads.sequence + 1)`))}`
  return db
    .with(
      'given',
      () => sql`(select cast(${row.start} as text) as entry_start, cast(${row.middle} as text) as entry_middle)`,
    )
    .with(
      'moved',
      () => sql`(update audit_heads set ${next} where organization_id = ${row.organizationId}
        returning sequence, previous_hash, hash)`,
    )
    .with(
      'created',
      () => sql`(insert into audit_heads (organization_id, sequence, previous_hash, hash)
        select cast(${row.organizationId} as text), 1, ${first}, ${hashOf(contentAfter(sql`${first}`, sql`1`))}
        where not exists (select 1 from moved)
        on conflict (organization_id) do update set ${next}
        returning sequence, previous_hash, hash)`,
    )
    .with('head', () => sql`(select * from moved union all select * from created)`)
    .insertInto('audit_entries')
    .columns(['organization_id', 'sequence', 'at', 'user_id', 'operation', 'objects', 'content', 'hash'])
    .expression(
      sql`select cast(${row.organizationId} as text), head.sequence, cast(${row.at} as text), cast(${row.userId} as bigint),
        cast(${row.operation} as text), cast(${row.objects} as text),
        ${contentAfter(sql`head.previous_hash`, sql`head.sequence`)}, head.hash from head`,
    )
})

const headOf = preparedQuery((db, { organizationId }: { organizationId: string }) =>
  db.selectFrom('audit_heads').selectAll().where('organization_id', '=', organizationId),
)
/** Affects no row when the head is another one by now. */
const advanceHead = preparedQuery((db, { organization_id, from, sequence, hash }: HeadStep) =>
  db
    .updateTable('audit_heads')
    .set({ sequence, hash })
    .where('organization_id', '=', organization_id)
    .where('hash', '=', from),
)
const insertHead = preparedQuery((db, head: Pick<Tables['audit_heads'], 'organization_id' | 'sequence' | 'hash'>) =>
  db
    .insertInto('audit_heads')
    .values({ ...head, previous_hash: firstPreviousHash })
    .onConflict(conflict =>
      conflict.column('organization_id').doUpdateSet({ sequence: head.sequence, hash: head.hash }),
    ),
)
const insertEntry = preparedQuery((db, row: Selectable<Tables['audit_entries']>) =>
  db.insertInto('audit_entries').values(row),
)

interface HeadStep extends Pick<Tables['audit_heads'], 'organization_id' | 'sequence' | 'hash'> {
  readonly from: string
}

/** The newest heads that this process wrote, by organization. They are guesses: another process may have written since, or the commit failed. */
export type AuditHeadGuesses = Map<string, Link>

const guessesMax = 1000

/** SQLite has one writer at a time, and no round trips. The head is read only when the guess is wrong. */
async function appendToSqlite(db: Kysely<Tables>, row: AuditRow, guesses: AuditHeadGuesses): Promise<void> {
  const { organizationId } = row
  const guess = guesses.get(organizationId)
  const guessed = guess && nextEntry(row, guess)
  const isRight =
    guessed && (await advanceHead(db, { ...headRow(row, guessed), from: guess.hash })).numAffectedRows === 1n
  const entry = isRight ? guessed : nextEntry(row, (await headOf(db, { organizationId })).rows[0])
  if (!isRight) await insertHead(db, headRow(row, entry))
  if (guesses.size >= guessesMax) guesses.clear()
  guesses.set(organizationId, { sequence: entry.sequence, hash: entry.hash })
  await insertEntry(db, {
    ...headRow(row, entry),
    content: entry.content,
    at: row.at,
    user_id: row.userId,
    operation: row.operation,
    objects: row.objects,
  })
}

function nextEntry(row: AuditRow, head: Link | undefined): Pick<AuditEntry, 'sequence' | 'content' | 'hash'> {
  const sequence = (head?.sequence ?? 0) + 1
  const content = contentOf(row, head?.hash ?? firstPreviousHash, sequence)
  return { sequence, content, hash: sha256(content) }
}

const headRow = ({ organizationId }: AuditRow, { sequence, hash }: Link) => ({
  organization_id: organizationId,
  sequence,
  hash,
})

/** Collects what a transaction records, and appends one entry for each organization directly before the commit. */
export function sqlAuditStore(db: Kysely<Tables>, end: TransactionEnd, guesses: AuditHeadGuesses) {
  const recorded: NewActivity[] = []
  const others: NewAuditEntry[] = []
  let isPlanned = false

  function plan(): void {
    if (isPlanned) return
    if (!end.beforeCommit) throw new Error('The audit log is written within a transaction.')
    end.beforeCommit(append)
    isPlanned = true
  }

  async function append(): Promise<void> {
    const entries = [...entriesOf(recorded), ...others]
    // All transactions lock heads in the same order.
    entries.sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1))
    for (const entry of entries) {
      if (isSqlite(db)) await appendToSqlite(db, auditRow(entry), guesses)
      else await appendHashed(db, auditRow(entry))
      entry.origin.isRecorded = true
    }
  }

  function matching({ organizationId, ...filter }: AuditFilter) {
    let query = db.selectFrom('audit_entries').selectAll().where('organization_id', '=', organizationId)
    if (filter.userId !== undefined) query = query.where('user_id', '=', filter.userId)
    if (filter.operation !== undefined) query = query.where('operation', '=', filter.operation)
    if (filter.object !== undefined) query = query.where(contains('objects', ` ${filter.object} `))
    if (filter.from !== undefined) query = query.where('at', '>=', filter.from)
    if (filter.to !== undefined) query = query.where('at', '<', filter.to)
    if (filter.search !== undefined)
      query = query.where(contains('content', JSON.stringify(filter.search).slice(1, -1)))
    if (filter.before !== undefined) query = query.where('sequence', '<', filter.before)
    return query
  }

  return {
    /** What a use case records as activity becomes part of the transaction's entry. */
    record(activities: readonly NewActivity[]): void {
      if (activities.length === 0) return
      plan()
      recorded.push(...activities)
    },
    /** An entry of its own. */
    add(entry: NewAuditEntry): void {
      plan()
      others.push(entry)
    },
    /** Newest first. */
    list: (filter: AuditFilter, limit: number): Promise<AuditEntry[]> =>
      matching(filter).orderBy('sequence', 'desc').limit(limit).execute(),
    /** Oldest first, after a sequence. */
    listAfter: (organizationId: string, sequence: number, limit: number): Promise<AuditEntry[]> =>
      matching({ organizationId }).where('sequence', '>', sequence).orderBy('sequence').limit(limit).execute(),
    /** What is done in the next entries, without their content. */
    listOperationsAfter: (
      organizationId: string,
      sequence: number,
      limit: number,
    ): Promise<{ sequence: number; operation: string }[]> =>
      db
        .selectFrom('audit_entries')
        .select(['sequence', 'operation'])
        .where('organization_id', '=', organizationId)
        .where('sequence', '>', sequence)
        .orderBy('sequence')
        .limit(limit)
        .execute(),
    /** Undefined when the retention has removed it. */
    find: (organizationId: string, sequence: number): Promise<AuditEntry | undefined> =>
      matching({ organizationId }).where('sequence', '=', sequence).executeTakeFirst(),
    async findHead(organizationId: string): Promise<AuditHead | undefined> {
      const { rows } = await headOf(db, { organizationId })
      return rows[0] && toHead(rows[0])
    },
    async listHeads(): Promise<readonly AuditHead[]> {
      return (await db.selectFrom('audit_heads').selectAll().orderBy('organization_id').execute()).map(toHead)
    },
    /** Whose entries no head leads to, as when it was removed behind the back of the server. */
    async listHeadless(): Promise<readonly string[]> {
      const rows = await db
        .selectFrom('audit_entries')
        .select('organization_id')
        .distinct()
        .where('organization_id', 'not in', heads => heads.selectFrom('audit_heads').select('organization_id'))
        .orderBy('organization_id')
        .execute()
      return rows.map(({ organization_id }) => organization_id)
    },
    /** The last one of the oldest entries that were made before, at most so many. */
    async findLastBefore(organizationId: string, before: Instant, limit: number): Promise<Link | undefined> {
      const oldest = await db
        .selectFrom('audit_entries')
        .select(['sequence', 'hash', 'at'])
        .where('organization_id', '=', organizationId)
        .orderBy('sequence')
        .limit(limit)
        .execute()
      const kept = oldest.findIndex(({ at }) => at >= before)
      return kept === -1 ? oldest.at(-1) : oldest[kept - 1]
    },
    /** Removes the entries up to this one. Returns the head, which is then locked. */
    async removeUpTo(organizationId: string, { sequence, hash }: Link): Promise<Link> {
      await db
        .deleteFrom('audit_entries')
        .where('organization_id', '=', organizationId)
        .where('sequence', '<=', sequence)
        .execute()
      return db
        .updateTable('audit_heads')
        .set({ pruned_sequence: sequence, pruned_hash: hash })
        .where('organization_id', '=', organizationId)
        .returning(['sequence', 'hash'])
        .executeTakeFirstOrThrow()
    },
  }
}

export interface AuditHead extends Link {
  readonly organizationId: string
  /** The last entry that the retention has removed; sequence 0 when there is none. */
  readonly pruned: Link
}

const toHead = (row: Selectable<Tables['audit_heads']>): AuditHead => ({
  organizationId: row.organization_id,
  sequence: row.sequence,
  hash: row.hash,
  pruned: { sequence: row.pruned_sequence, hash: row.pruned_hash ?? firstPreviousHash },
})

/** One entry for each organization. It is by the caller; what is made on behalf of others says so. */
function entriesOf(recorded: readonly NewActivity[]): NewAuditEntry[] {
  const organizationIds = [...new Set(recorded.map(({ organizationId }) => organizationId))]
  return organizationIds.map(organizationId => {
    const activities = recorded.filter(activity => activity.organizationId === organizationId)
    const lead = activities.find(({ origin }) => origin) ?? activities[0]!
    const { origin = systemOrigin(lead) } = lead
    return { organizationId, at: lead.createdAt, user: lead.origin ? lead.user : null, origin, activities }
  })
}

/** Work without a request: schedules, rollbacks, approved changes. */
function systemOrigin({ detail }: NewActivity): Origin {
  const job = detail.trigger?.job_type
  return originOf(typeof job === 'string' ? job : 'system')
}
