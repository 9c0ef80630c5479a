import { sourceIdOf } from './model.ts'
import type { Verdict } from './verdict.ts'

/** As many as a project can have. */
const groupTypesMax = 5

/** The group types of the project and those that imported flags add to them, which must fit together. */
export class GroupTypes {
  readonly #names: Set<string>

  constructor(existing: readonly string[] = []) {
    this.#names = new Set(existing)
  }

  /** Adds those that the filters of an item refer to; refuses the item when there are too many. */
  claim(filters: unknown, path: string, verdict: Verdict): void {
    const added = groupTypesIn(filters).filter(name => !this.#names.has(name))
    if (this.#names.size + added.length > groupTypesMax) {
      const names = [...this.#names].join(', ')
      verdict.refuse(
        `Group type "${added[0]}" does not fit beside ${names}: five at most. Import into another project.`,
        path,
      )
    }
    for (const name of added) this.#names.add(name)
  }
}

/** The names of the group types that filters refer to. */
export function groupTypesIn(filters: unknown): string[] {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [field, inner] of Object.entries(value)) {
      if (field === 'payloads') continue
      const isIndex = field === 'group_type_index' || field === 'aggregation_group_type_index'
      const name = isIndex && typeof inner === 'string' ? sourceIdOf(inner) : undefined
      if (name === undefined) visit(inner)
      else names.add(name)
    }
  }
  visit(filters)
  return [...names]
}
