import type { ImportedProject } from '@halyard/migrate/model'
import type { ProblemKind } from '../../../problem.ts'

/** Parts of the result; each is requested, so that reading them does not block the event loop. */
export type ConvertedPart = Partial<Pick<ImportedProject, 'flags' | 'cohorts' | 'items'>>

export type FromConversion =
  | { readonly kind: 'converted'; readonly total: number }
  | { readonly kind: 'checked'; readonly count: number }
  | { readonly kind: 'part'; readonly part: ConvertedPart }
  | { readonly kind: 'end'; readonly rest: Omit<ImportedProject, 'flags' | 'cohorts' | 'items'> }
  | {
      readonly kind: 'problem'
      readonly problem: {
        readonly kind: ProblemKind
        readonly message: string
        readonly code: string | undefined
        readonly field: string | null
        readonly extra: Readonly<Record<string, unknown>> | undefined
      }
    }
