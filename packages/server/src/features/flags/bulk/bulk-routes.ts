import { bulkFlagsMax, routes } from '@halyard/contract'
import { usesFlags } from '@halyard/engine'
import { activeVariant, rolloutState } from '../../../domain/flag.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { readFlagFilter } from '../flag-filter.ts'
import { getFlag } from '../flag-routes.ts'
import type { FlagWrites } from '../flag-writes.ts'
import { type BulkResult, bulkChange, changeTags } from './bulk-change.ts'

interface Deps extends RouteDeps {
  readonly writes: FlagWrites
}

/** Changes of many flags at once. */
export function serveBulkFlags(serve: ServeRoute, { database, writes, now }: Deps): void {
  const r = routes.flagBulk

  serve(r.dependents, ({ project, params }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const candidates = await tx.flags.listDependents(project.id)
      return candidates
        .filter(other => other.id !== flag.id && usesFlags(other.filters).includes(flag.id))
        .map(({ id, key, name }) => ({ id, key, name }))
    }),
  )

  serve(r.keys, async ({ project, body }) => {
    const sentIds = body.ids ?? []
    const ids = sentIds.map(readId).filter(id => id !== undefined)
    if (sentIds.length > 0 && ids.length === 0) throw invalid('ids', 'invalid_input', 'None of the ids is a flag id.')
    refuseTooMany(ids)
    const flags = await database.read(tx => tx.flags.findLive(project.id, ids))
    const invalidIds = sentIds.length - ids.length
    return {
      keys: Object.fromEntries(flags.map(flag => [String(flag.id), flag.key])),
      ...(invalidIds > 0 && { warning: `${invalidIds} of the ids are no flag ids and were left out.` }),
    }
  })

  serve(r.remove, async request => {
    const { actor, project, body } = request
    if ((body.ids === undefined) === (body.filters === undefined)) {
      throw invalid(null, 'invalid_input', 'Send either ids or filters.')
    }
    const { changed, errors } = await writes.saveMany<BulkResult>(request, async gate => {
      const ids = body.ids ?? (await idsMatching(gate.tx, project, body.filters ?? {}, now()))
      refuseTooMany(ids)
      return bulkChange(gate, actor, project, { ids, patchOf: () => ({ deleted: true }) })
    })
    const deleted = changed.map(flag => ({
      id: flag.id,
      key: flag.key,
      rollout_state: rolloutState(flag),
      active_variant: activeVariant(flag),
    }))
    return { deleted, errors: [...errors] }
  })

  serve(r.update, async request => {
    const { actor, project, body } = request
    const { ids, active, tags, tags_action: action = 'set' } = body
    refuseTooMany(ids)
    const { changed, errors } = await writes.saveMany<BulkResult>(request, gate =>
      bulkChange(gate, actor, project, {
        ids,
        patchOf: flag => ({ active, tags: tags && changeTags(flag.tags, action, tags) }),
      }),
    )
    const updated = changed.map(flag => ({
      id: flag.id,
      key: flag.key,
      active: flag.active,
      tags: flag.tags as unknown[],
      version: flag.version,
    }))
    return { updated, errors: [...errors] }
  })
}

const readId = (value: unknown): number | undefined => {
  const id = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : undefined
}

function refuseTooMany(ids: readonly number[]): void {
  if (ids.length > bulkFlagsMax) {
    throw invalid('ids', 'max_length', `Send at most ${bulkFlagsMax} flag ids, not ${ids.length}.`)
  }
}

const filterNames = ['search', 'active', 'type', 'created_by_id', 'tags'] as const

/** Unlike the list, deleting is strict: a filter that is not understood must not mean "all flags". */
async function idsMatching(
  tx: Stores,
  project: Project,
  filters: Readonly<Record<string, unknown>>,
  now: Instant,
): Promise<readonly number[]> {
  const unknown = Object.keys(filters).find(name => !filterNames.includes(name as (typeof filterNames)[number]))
  if (unknown !== undefined) throw invalid('filters', 'invalid_input', `There is no filter "${unknown}".`)
  const texts = Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
  if (Object.keys(texts).length === 0) throw invalid('filters', 'invalid_input', 'Send at least one filter.')
  const filter = readFlagFilter(texts, now)
  // `deleted` and `archived` are always there; every filter that is understood adds one more.
  if (Object.keys(filter).length < Object.keys(texts).length + 2) {
    throw invalid('filters', 'invalid_input', 'One of the filters has an unsupported value.')
  }
  const page = await tx.flags.list(project.id, filter, { limit: bulkFlagsMax + 1, offset: 0 })
  return page.items.map(flag => flag.id)
}
