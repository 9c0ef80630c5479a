import type { Snapshot } from '@halyard/engine'
import type { ImportedProject, ImportSource } from '@halyard/importers'
import type { ProofContext } from './evaluate-imported.ts'
import type { Random } from './random.ts'

/** People at the edges of the imported rules and rollouts, and random ones between them. */
export function* proofContexts(
  project: ImportedProject,
  snapshot: Snapshot,
  random: Random,
  count: number,
): Generator<ProofContext> {
  const { values, ids } = comparedIn(project)
  const anyValues = [...values.values()].flat()
  const edgeIds = idsAtBucketEdges(snapshot, random)
  const shape = shapes[project.source] ?? {}
  for (let index = 0; index < count; index++) {
    const attributes: Record<string, unknown> = {}
    for (const [name, own] of values) {
      if (random.chance(0.2)) continue
      const value = attributeValue(own, anyValues, shape, random)
      attributes[name] = shape.texts === 'all' || shape.texts?.includes(name) ? String(value) : value
    }
    yield { id: idOf(ids, edgeIds, random), attributes }
  }
}

/** Which values the contexts of a service can have. */
interface Shape {
  readonly lists?: boolean
  readonly noBooleans?: boolean
  /** Attributes that are always text, or `all`. */
  readonly texts?: 'all' | readonly string[]
}

const shapes: Readonly<Partial<Record<ImportSource, Shape>>> = {
  launchdarkly: { lists: true },
  growthbook: { lists: true },
  flagd: { lists: true, noBooleans: true },
  configcat: { lists: true },
  unleash: { texts: ['sessionId', 'remoteAddress', 'currentTime'] },
  flipt: { texts: 'all' },
}

const oddValues = ['', 0, -1, '0', ' ', 'n/a', '2.1.0', '1.2.3-beta.1', '10.1.2.3', '2001:db8::5', 'München']

function attributeValue(own: readonly unknown[], others: readonly unknown[], shape: Shape, random: Random): unknown {
  const roll = random.next()
  const from = roll < 0.7 && own.length > 0 ? own : roll < 0.85 && others.length > 0 ? others : oddValues
  // Rollouts by an attribute need many values of it.
  const value = roll > 0.95 ? randomId(random) : random.pick(from)
  if (!shape.noBooleans && random.chance(0.05)) return random.chance(0.5)
  if (!shape.lists || !random.chance(0.1)) return value
  return [
    random.chance(0.7) ? String(value) : value,
    ...random.some(others.length > 0 ? others : oddValues, 2).map(String),
  ]
}

function idOf(named: readonly string[], edges: readonly string[], random: Random): string {
  const roll = random.next()
  if (roll < 0.05 && named.length > 0) return random.pick(named)
  return roll < 0.3 && edges.length > 0 ? random.pick(edges) : randomId(random)
}

/** With and without text that is not ASCII, and of different lengths. */
const randomId = (random: Random): string => `${random.pick(['user-', 'ü', '用户', ''])}${random.below(1_000_000)}`

/** Bounds the values of one property: a targeting list can have thousands. */
const valuesMax = 500

/** What the filters of flags and cohorts compare, by property, with values just beside it. */
function comparedIn({ flags, cohorts }: ImportedProject) {
  const found = new Map<string, Set<unknown>>()
  const ids = new Set<string>()
  const add = (name: string, values: readonly unknown[]): void => {
    const known = found.get(name) ?? new Set()
    found.set(name, known)
    for (const value of values.flatMap(neighborsOf)) if (known.size < valuesMax) known.add(value)
  }
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item)
      return
    }
    if (typeof value !== 'object' || value === null) return
    const { type, key, operator, value: compared, by } = value as Record<string, unknown>
    const values = operator === 'type_is' ? [] : Array.isArray(compared) ? compared : [compared]
    // A filter without a type is about the person.
    const isPerson = type === 'person' || (type === undefined && 'value' in value && key !== undefined)
    if (isPerson && key === 'distinct_id') for (const id of values) ids.add(String(id))
    else if (isPerson) add(String(key), values)
    if (typeof by === 'string') add(by, [])
    for (const inner of Object.values(value)) visit(inner)
  }
  for (const { filters } of flags) visit(filters)
  for (const { content } of cohorts) {
    if ('filters' in content) visit(content.filters)
    else for (const id of content.ids.slice(0, valuesMax)) ids.add(id)
  }
  const named = [...ids]
    .filter(id => id !== '')
    .slice(0, valuesMax)
    .flatMap(id => [id, id.toUpperCase()])
  return { values: new Map([...found].map(([name, values]) => [name, [...values]])), ids: named }
}

function neighborsOf(value: unknown): unknown[] {
  if (typeof value === 'number') return [value, value + 1, value - 1, value + 0.5, String(value)]
  if (typeof value !== 'string') return value === undefined || typeof value === 'object' ? [] : [value, String(value)]
  const text = [value, value.toUpperCase(), value.toLowerCase(), `${value}x`, `x${value}`, value.slice(0, -1)]
  const number = value.trim() === '' ? Number.NaN : Number(value)
  const time = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN
  const version = /^(\d+\.\d+\.)(\d+)/.exec(value)
  const withoutMetacharacters = value.replace(/[\\^$.*+?()[\]{}|]/g, '')
  return [
    ...text,
    ...(withoutMetacharacters === value ? [] : [withoutMetacharacters]),
    ...(Number.isFinite(number) ? [number, number + 1, number - 1] : []),
    ...(Number.isFinite(time) ? [-1, 1].map(step => new Date(time + step).toISOString()) : []),
    ...(version ? [`${version[1]}${Number(version[2]) + 1}`, `${version[1]}${version[2]}-alpha`] : []),
    ...(/^[\d.:a-f]+\/\d+$/i.test(value) ? [value.split('/')[0]] : []),
  ]
}

/** Every candidate is explained for every flag, which bounds both. */
const edgeFlagsMax = 100
const candidatesPerFlag = 60

/** For each rollout, the identifiers among many whose buckets are next to its threshold, on either side. */
function idsAtBucketEdges(snapshot: Snapshot, random: Random): string[] {
  const candidates = random.list(candidatesPerFlag, () => randomId(random))
  const closest = new Map<string, { readonly id: string; readonly distance: number }>()
  for (const { key } of snapshot.flags.slice(0, edgeFlagsMax)) {
    for (const id of candidates) {
      const trace = snapshot.explain({ distinctId: id }, { key, now: 0 })
      for (const { index, rollout } of trace?.conditions ?? []) {
        if (rollout === null) continue
        const distance = Math.abs(rollout.bucket - rollout.threshold)
        const edge = `${key} ${index} ${rollout.inside}`
        if (distance < (closest.get(edge)?.distance ?? Number.POSITIVE_INFINITY)) closest.set(edge, { id, distance })
      }
    }
  }
  return [...new Set([...closest.values()].map(({ id }) => id))]
}
