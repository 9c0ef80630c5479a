import type { Flag } from '@halyard/contract'
import { createContext, useContext } from 'react'

export interface CohortChoice {
  readonly id: number
  readonly name: string
}

/** What the parts of the editor know of the project around the flag. */
export interface Editing {
  /** Whether it is the filters of a cohort that are edited, where a filter can be turned round. */
  readonly isCohort: boolean
  readonly flagId: number
  readonly flags: readonly Flag[]
  readonly cohorts: readonly CohortChoice[]
  /** The name of each group type by its index. */
  readonly groupTypes: Readonly<Record<string, string>>
  readonly variantKeys: readonly string[]
  readonly groupTypeIndex: number | null
  /** Names that filters of this project use already. */
  readonly propertyNames: readonly string[]
  /** What is wrong at a path such as `filters.groups[0]`, or below it. */
  problemsAt(path: string): readonly string[]
}

export const EditingContext = createContext<Editing | undefined>(undefined)

export function useEditing(): Editing {
  const editing = useContext(EditingContext)
  if (!editing) throw new Error('There is no editor above this component.')
  return editing
}
