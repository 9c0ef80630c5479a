import { bulkFlagsMax, flagUsageDays, flagUsageIdsMax, routes } from '@halyard/contract'
import type { Flag, FlagFilter } from '../../../domain/flag.ts'
import type { Snapshots } from '../../../evaluation/snapshots.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { ChangeFeed } from '../../../storage/changes/changes.ts'
import { editableFlags } from '../../access/access.ts'
import { grantsFor } from '../../access/grants.ts'
import { dayOf } from '../../events/usage/usage.ts'
import { bulkChange } from '../bulk/bulk-change.ts'
import { failedChecks } from '../details/flag-health.ts'
import { readFlagFilter } from '../flag-filter.ts'
import { createFlagPages } from '../flag-pages.ts'
import type { FlagWrites } from '../flag-writes.ts'
import { creatorToWire, summaryOf } from './flag-summary.ts'
import { replaceTag } from './replace-tag.ts'

interface Deps extends RouteDeps {
  readonly changes: ChangeFeed
  readonly snapshots: Snapshots
  readonly writes: FlagWrites
}

const facetsMax = 1000
const wordsMax = 10
const lettersMax = 50
/** Of a flag that was created a moment ago. */
const unknown: ReadonlySet<never> = new Set()
const dayMilliseconds = 24 * 60 * 60 * 1000

/** The flags of a project as a list shows them. */
export function serveFlagList(serve: ServeRoute, { database, changes, snapshots, writes, now }: Deps): void {
  const r = routes.flagList
  const listSummaries = createFlagPages({ database, changes }, summaryOf)

  serve(r.list, async request => {
    const { actor, query } = request
    const favorites = query.favorite === 'true' && { favoriteOf: actor.user.id }
    const filter = { ...readSummaryFilter(query, now()), ...favorites }
    return answer({ status: 200, body: await listSummaries(request, filter) })
  })

  serve(r.usage, async ({ project, query }) => {
    const ids = readIds(query.ids)
    const today = now()
    const days = Array.from({ length: flagUsageDays }, (_, n) =>
      dayOf(plusMilliseconds(today, (n + 1 - flagUsageDays) * dayMilliseconds)),
    )
    const snapshot = (await snapshots.forProject(project.id))?.snapshot
    const reachable = new Map(snapshot?.flags.map(({ id }, position) => [id, snapshot.reachable[position]]))
    // Without a transaction: no connection is held while ClickHouse is queried.
    return database.query(async tx => {
      const flags = await tx.flags.findLive(project.id, ids)
      const keys = flags.map(({ key }) => key)
      const calls = await tx.usage.recentCalls(project.id, keys, days[0]!)
      const details = new Map((await tx.flagDetails.findMany(project.id, ids)).map(each => [each.flagId, each]))
      return flags.map(flag => {
        const { lastAt: lastCalledAt = null, byDay } = calls.get(flag.key) ?? {}
        const facts = {
          flag,
          lastCalledAt,
          reachable: reachable.get(flag.id) ?? unknown,
          details: details.get(flag.id),
        }
        return {
          id: flag.id,
          last_called_at: lastCalledAt,
          calls: days.map(day => byDay?.get(day) ?? 0),
          checks: failedChecks(facts, today),
        }
      })
    })
  })

  serve(r.facets, async ({ actor, project }) => {
    const { tags, creators } = await database.read(async tx =>
      tx.flags.facets(project.id, editableFlags(await grantsFor(tx, actor, project))),
    )
    return {
      tags: [...tags]
        .map(([name, { flags, editable }]) => ({ name, flag_count: flags, editable_count: editable }))
        .sort((a, b) => compare(a.name, b.name))
        .slice(0, facetsMax),
      creators: creators
        .map(creatorToWire)
        .sort((a, b) => compare(a.first_name || a.email, b.first_name || b.email))
        .slice(0, facetsMax),
    }
  })

  serve(r.replaceTag, async request => {
    const { actor, project, body } = request
    return writes.saveMany(request, async gate => {
      const filter: FlagFilter = {
        deleted: false,
        archived: false,
        exactTags: [body.tag],
        order: { field: 'id', descending: false },
      }
      const page = await gate.tx.flags.list(project.id, filter, { limit: bulkFlagsMax, offset: 0 })
      const ids = page.items.filter(({ tags }) => tags.includes(body.tag)).map(({ id }) => id)
      const patchOf = (flag: Flag) => ({ tags: replaceTag(flag.tags, body.tag, body.replacement) })
      const { changed, errors } = await bulkChange(gate, actor, project, { ids, patchOf })
      return {
        updated: changed.length,
        remaining: page.count - (page.items.length - ids.length) - changed.length,
        errors: errors.map(({ id, key, reason }) => ({ id, reason, ...(key !== undefined && { key }) })),
      }
    })
  })
}

type Query = Parameters<typeof readFlagFilter>[0] & { readonly letters?: string }

/** As the list of flags, but the search is for words, and tags are the ones that the dashboard offers. */
function readSummaryFilter({ search, letters, ...query }: Query, now: Instant): FlagFilter {
  const words = (search ?? '').split(/\s+/).filter(Boolean).slice(0, wordsMax)
  const { tags, ...filter } = readFlagFilter(query, now)
  const inOrder = [...(letters ?? '').replace(/\s+/g, '')].slice(0, lettersMax)
  return {
    ...filter,
    ...(tags && { exactTags: tags }),
    ...(words.length > 0 && { words }),
    ...(inOrder.length > 0 && { letters: inOrder }),
  }
}

function readIds(text: string | undefined): readonly number[] {
  const parts = (text ?? '').split(',').filter(part => part.trim() !== '')
  if (parts.length > flagUsageIdsMax) {
    throw invalid('ids', 'max_length', `Send at most ${flagUsageIdsMax} flag ids, not ${parts.length}.`)
  }
  if (!parts.every(part => /^\s*\d{1,15}\s*$/.test(part))) {
    throw invalid('ids', 'invalid_input', 'ids must be flag ids, separated by commas.')
  }
  return parts.map(Number)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
