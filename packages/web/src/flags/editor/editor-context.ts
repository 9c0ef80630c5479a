import type { Flag } from '@halyard/contract'
import { createContext, useContext } from 'react'

export interface CohortChoice {
  readonly id: number
  readonly name: string
}

/** What the parts of the editor know about the project. */
export interface Editing {
  /** Whether the filters belong to a cohort, where a filter can be inverted. */
  readonly isCohort: boolean
  readonly flagId: number
  /** Where other flags can be searched. */
  readonly projectId: string
  readonly flags: readonly Flag[]
  readonly cohorts: readonly CohortChoice[]
  /** Group type names by index. */
  readonly groupTypes: Readonly<Record<string, string>>
  readonly variantKeys: readonly string[]
  readonly groupTypeIndex: number | null
  /** Whether the filters are about events, not about people or groups. */
  readonly isEvent?: boolean
  /** Names of people's properties used elsewhere in this project, for suggestions. */
  readonly propertyNames: readonly string[]
  /** The validation messages at a path such as `filters.groups[0]`, or below it. */
  problemsAt(path: string): readonly string[]
}

export const EditingContext = createContext<Editing | undefined>(undefined)

export function useEditing(): Editing {
  const editing = useContext(EditingContext)
  if (!editing) throw new Error('There is no editor above this component.')
  return editing
}
