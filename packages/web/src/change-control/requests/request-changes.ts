import type { ChangeRequestDetail } from '@halyard/contract'
import type { Collision } from '../../flags/editor/drafts/merge-drafts.ts'
import type { FieldChange } from '../../flags/history/change-list.tsx'

/** Fields that follow from others. */
export const quietFields = new Set(['version', 'rollout_percentage', 'is_simple_flag', 'updated_at', 'created_at'])

type Content = Pick<ChangeRequestDetail, 'changes' | 'base' | 'intent'>

/** What applying the request now would change; for one that is closed, what it asked for. */
export function requestChanges({ changes, base, intent }: Content): readonly FieldChange[] {
  const now = changes.flatMap(({ field, before, after }) => (field === null ? [] : [{ field, before, after }]))
  const asked = Object.entries(intent).map(([field, after]) => ({ field, before: base[field], after }))
  return (now.length > 0 ? now : asked).filter(({ field }) => !quietFields.has(field))
}

/** Conditions have no identity but their place, which differs between the sides: all of them are compared. */
const placeOf = (path: string): string => (path.startsWith('filters.groups') ? 'filters.groups' : path)

/** The three sides of each place that both have changed. */
export function conflictedPlaces({
  conflicts,
  base,
  current,
  intent,
}: Pick<ChangeRequestDetail, 'conflicts' | 'base' | 'current' | 'intent'>): readonly Collision[] {
  return [...new Set(conflicts.map(wirePath).map(placeOf))].map(path => ({
    path,
    base: valueAt(base, path),
    theirs: valueAt(current, path),
    mine: valueAt(intent, path),
  }))
}

/** Paths begin with a stored field; the values are under the names of the API. */
function wirePath(path: string): string {
  const [field = '', ...rest] = path.split('.')
  return [field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`), ...rest].join('.')
}

/** The first two parts are names; the rest is one key, which may contain dots. */
function valueAt(fields: Readonly<Record<string, unknown>>, path: string): unknown {
  const [field = '', part, ...rest] = path.split('.')
  const value = fields[field]
  if (part === undefined) return value
  const inner = (value as Readonly<Record<string, unknown>> | null | undefined)?.[part]
  return rest.length === 0 ? inner : (inner as Readonly<Record<string, unknown>> | undefined)?.[rest.join('.')]
}
