/** The topological order of flags: each one after its dependencies. */
export interface FlagOrder {
  /** The flags' positions, dependencies first. Undefined when no flag depends on another. */
  readonly order: Int32Array | undefined
  /** The index of each flag in `order`, by its position. */
  readonly places: Int32Array | undefined
  /** Flags whose dependencies are missing or cyclic, by position. */
  readonly broken: ReadonlyMap<number, Breakage>
  /** Direct dependencies, by position. */
  readonly dependencies: ReadonlyMap<number, readonly number[]>
}

export type Breakage = 'missing' | 'cycle'

const unordered: FlagOrder = { order: undefined, places: undefined, broken: new Map(), dependencies: new Map() }

/** `dependenciesOf` returns the positions that a flag refers to, -1 for a flag that does not exist. */
export function orderFlags(count: number, dependenciesOf: (position: number) => readonly number[]): FlagOrder {
  const dependencies = new Map<number, readonly number[]>()
  for (let position = 0; position < count; position++) {
    const dependedOn = dependenciesOf(position)
    if (dependedOn.length > 0) dependencies.set(position, dependedOn)
  }
  if (dependencies.size === 0) return unordered
  const broken = new Map<number, Breakage>()
  const order = new Int32Array(count)
  let placed = 0
  for (let position = 0; position < count; position++) {
    if (!dependencies.has(position)) order[placed++] = position
  }
  for (const position of dependentsInOrder(dependencies, broken)) order[placed++] = position
  const places = new Int32Array(count)
  for (const [place, position] of order.entries()) places[position] = place
  return { order, places, broken, dependencies }
}

/** Kahn's algorithm over the flags with dependencies. What it cannot place is on or behind a cycle. */
function dependentsInOrder(
  dependencies: ReadonlyMap<number, readonly number[]>,
  broken: Map<number, Breakage>,
): number[] {
  const waiting = new Map<number, number>()
  const dependents = new Map<number, number[]>()
  for (const [position, dependedOn] of dependencies) {
    const open = dependedOn.filter(other => dependencies.has(other))
    waiting.set(position, open.length)
    for (const other of open) dependents.set(other, [...(dependents.get(other) ?? []), position])
  }
  const order = [...dependencies.keys()].filter(position => waiting.get(position) === 0)
  for (let next = 0; next < order.length; next++) {
    const position = order[next]!
    if (dependencies.get(position)!.some(other => other < 0 || broken.has(other))) broken.set(position, 'missing')
    for (const dependent of dependents.get(position) ?? []) {
      const left = waiting.get(dependent)! - 1
      waiting.set(dependent, left)
      if (left === 0) order.push(dependent)
    }
  }
  const placed = new Set(order)
  for (const position of dependencies.keys()) {
    if (placed.has(position)) continue
    broken.set(position, 'cycle')
    order.push(position)
  }
  return order
}
