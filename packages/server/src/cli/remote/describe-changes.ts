/** One field of an activity entry, a plan or a change request. */
export interface FieldChange {
  readonly field: string | null
  readonly before: unknown
  readonly after: unknown
}

const linesPerFieldMax = 10
const valueCharactersMax = 60

/** `rollout 10 → 25`, one line for each value that differs inside the field. */
export function describeChange({ field, before, after }: FieldChange): string[] {
  const lines = [...differences(field ?? 'value', before, after)]
  const shown = lines.slice(0, linesPerFieldMax)
  return lines.length > shown.length ? [...shown, `${field}: ${lines.length - shown.length} more`] : shown
}

function* differences(path: string, before: unknown, after: unknown): Generator<string> {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  if (isContainer(before) && isContainer(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const name = Array.isArray(before) ? `${path}[${key}]` : `${path}.${key}`
      yield* differences(name, (before as Fields)[key], (after as Fields)[key])
    }
    return
  }
  yield `${path}: ${shown(before)} → ${shown(after)}`
}

type Fields = Record<string, unknown>

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  const text = JSON.stringify(value)
  return text.length > valueCharactersMax ? `${text.slice(0, valueCharactersMax - 1)}…` : text
}
