import type { Instant } from '../../instant.ts'

/** A line of source code that names a flag. */
export interface CodeReference {
  readonly flagKey: string
  readonly path: string
  readonly line: number
  /** The line, shortened; may be empty. */
  readonly excerpt: string
}

/** What was scanned. */
export interface CodeScan {
  readonly repository: string
  readonly branch: string | null
  readonly commit: string | null
  readonly scannedAt: Instant
}

export interface CodeRepository extends CodeScan {
  readonly id: number
  readonly referenceCount: number
}

/** How often code names a flag, and in which repositories. */
export interface CodeUse {
  readonly count: number
  readonly repositories: readonly string[]
}
