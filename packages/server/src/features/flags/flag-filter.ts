import { type FlagFilter, flagOrders } from '../../domain/flag.ts'
import type { Instant } from '../../instant.ts'
import { staleBefore } from './flag-status.ts'

type Query = Partial<
  Record<'search' | 'active' | 'type' | 'created_by_id' | 'tags' | 'order' | 'deleted' | 'archived', string>
>

/** Lenient, as PostHog: a filter value that means nothing is ignored. */
export function readFlagFilter(query: Query, now: Instant): FlagFilter {
  const order = flagOrders.find(field => field === query.order?.replace(/^-/, ''))
  const tags = readJsonList(query.tags)
  return {
    deleted: query.deleted === 'true',
    archived: query.archived === 'true',
    ...(query.search && { search: query.search }),
    ...((query.active === 'true' || query.active === 'false') && { active: query.active === 'true' }),
    ...(query.active === 'STALE' && { staleSince: staleBefore(now) }),
    ...((query.type === 'boolean' || query.type === 'multivariant') && {
      isMultivariant: query.type === 'multivariant',
    }),
    ...(/^\d{1,15}$/.test(query.created_by_id ?? '') && { createdById: Number(query.created_by_id) }),
    ...(tags && { tags }),
    ...(order && { order: { field: order, descending: query.order?.startsWith('-') ?? false } }),
  }
}

function readJsonList(text: string | undefined): readonly unknown[] | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.length > 0 ? value : undefined
  } catch {
    return undefined
  }
}
