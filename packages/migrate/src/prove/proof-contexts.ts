import type { Snapshot } from '@halyard/engine'
import { groupTypesUsedBy } from '../model/group-types.ts'
import { type ImportedProject, type ImportSource, sourceIdOf } from '../model/model.ts'
import type { ProofContext } from './evaluate-imported.ts'
import type { Random } from './random.ts'

/** People at the edges of the imported rules and rollouts, and random ones between them. */
export function* proofContexts(
  project: ImportedProject,
  snapshot: Snapshot,
  random: Random,
  count: number,
): Generator<ProofContext> {
  const { people, groups } = comparedIn(project)
  const entities = [people, ...groups.values()]
  const others = entities.flatMap(({ values }) => [...values.values()].flat())
  const edgeIds = idsAtBucketEdges(snapshot, [...groups.keys()], random)
  const shape = shapes[project.source] ?? {}
  const attributesOf = ({ values }: Compared): Record<string, unknown> => {
    const attributes: Record<string, unknown> = {}
    for (const [name, own] of values) {
      if (random.chance(0.2)) continue
      const value = shape.booleans?.includes(name) ? random.chance(0.5) : attributeValue(own, others, shape, random)
      attributes[name] = shape.texts === 'all' || shape.texts?.includes(name) ? String(value) : value
    }
    return attributes
  }
  for (let index = 0; index < count; index++) {
    const memberships = [...groups].flatMap(([type, compared]) => {
      if (random.chance(0.25)) return []
      // Some have properties with the names of another entity's.
      const attributes = { ...(random.chance(0.3) && attributesOf(random.pick(entities))), ...attributesOf(compared) }
      return [[type, { key: idOf(compared.ids, edgeIds, random), attributes }] as const]
    })
    const borrowed = groups.size > 0 && random.chance(0.3) ? attributesOf(random.pick(entities)) : {}
    yield {
      id: idOf(people.ids, edgeIds, random),
      attributes: { ...borrowed, ...attributesOf(people) },
      groups: Object.fromEntries(memberships),
    }
  }
}

/** Which values the contexts of a service can have. */
interface Shape {
  readonly lists?: boolean
  readonly noBooleans?: boolean
  /** Attributes that are always text, or `all`. */
  readonly texts?: 'all' | readonly string[]
  /** Attributes that are always true or false. */
  readonly booleans?: readonly string[]
}

const shapes: Readonly<Partial<Record<ImportSource, Shape>>> = {
  launchdarkly: { lists: true, texts: ['name'], booleans: ['anonymous'] },
  growthbook: { lists: true },
  flagd: { lists: true, noBooleans: true },
  configcat: { lists: true },
  unleash: { texts: ['sessionId', 'remoteAddress', 'currentTime'] },
  flipt: { texts: 'all' },
}

const oddValues = [
  ...['', 0, -1, 0.5, '0', ' ', 'n/a', 'München', '😀', 1_893_456_000_000],
  ...['2.1.0', '1.2.3-beta.1', '1.2', 'v1.2.3', '2', '1.2-rc.1', ' 1.2.3', '01.2.3', '10.1.2.3', '2001:db8::5'],
  ...['2026-06-01', '2026-06-01T12:00:00+02:00', '2026-06-01T12:00:00', '2026-06-01T10:00:00.000Z'],
]

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

/** The values that an entity's properties are compared with, and its identifiers that are named. */
interface Compared {
  readonly values: ReadonlyMap<string, readonly unknown[]>
  readonly ids: readonly string[]
}

class Collected {
  readonly #values = new Map<string, Set<unknown>>()
  readonly #ids = new Set<string>()

  add(name: string, values: readonly unknown[]): void {
    if (name === 'distinct_id' || name === '$group_key') {
      for (const id of values) this.#ids.add(String(id))
      return
    }
    const collected = this.#values.get(name) ?? new Set()
    this.#values.set(name, collected)
    for (const value of values.flatMap(neighborsOf)) if (collected.size < valuesMax) collected.add(value)
  }

  get compared(): Compared {
    const ids = [...this.#ids].filter(id => id !== '').slice(0, valuesMax)
    return {
      values: new Map([...this.#values].map(([name, values]) => [name, [...values]])),
      ids: ids.flatMap(id => [id, id.toUpperCase()]),
    }
  }
}

/** What the filters of flags and cohorts compare, with values just beside it: of people, and by group type. */
function comparedIn(project: ImportedProject) {
  const people = new Collected()
  const groups = new Map(groupTypesUsedBy(project).map(type => [type, new Collected()]))
  const entityOf = (index: unknown): Collected => groups.get(sourceIdOf(String(index ?? '')) ?? '') ?? people
  const visit = (value: unknown, entity: Collected): void => {
    if (Array.isArray(value)) {
      for (const item of value) visit(item, entity)
      return
    }
    if (typeof value !== 'object' || value === null) return
    const { type, key, operator, value: compared, by, ...rest } = value as Record<string, unknown>
    const values = operator === 'type_is' ? [] : Array.isArray(compared) ? compared : [compared]
    // A filter without a type is about the person.
    const isOfPerson = type === 'person' || (type === undefined && 'value' in value && key !== undefined)
    if (isOfPerson) people.add(String(key), values)
    if (type === 'group') entityOf(rest.group_type_index).add(String(key), values)
    if (typeof by === 'string') entity.add(by, [])
    const { aggregation_group_type_index: aggregation } = rest
    const own = aggregation === undefined || aggregation === null ? entity : entityOf(aggregation)
    for (const inner of Object.values(value)) visit(inner, own)
  }
  for (const { filters } of project.flags) visit(filters, people)
  for (const { content } of project.cohorts) {
    if ('filters' in content) visit(content.filters, people)
    else people.add('distinct_id', content.ids.slice(0, valuesMax))
  }
  return {
    people: people.compared,
    groups: new Map([...groups].map(([type, { compared }]) => [type, compared] as const)),
  }
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
function idsAtBucketEdges(snapshot: Snapshot, groupTypes: readonly string[], random: Random): string[] {
  const candidates = random.list(candidatesPerFlag, () => randomId(random))
  const closest = new Map<string, { readonly id: string; readonly distance: number }>()
  for (const { key } of snapshot.flags.slice(0, edgeFlagsMax)) {
    for (const id of candidates) {
      // The same text for the person and for groups, so that the buckets of both are covered.
      const groups = Object.fromEntries(groupTypes.map(type => [type, id]))
      const trace = snapshot.explain({ distinctId: id, groups }, { key, now: 0 })
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
