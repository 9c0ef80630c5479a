import { groupTypesIn, groupTypesMax } from '../model/group-types.ts'
import type { Verdict } from './verdict.ts'

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
