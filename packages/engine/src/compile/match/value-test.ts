import type { IssueCode } from '../../definition/issue.ts'
import type { Ternary } from '../../evaluate/ternary.ts'

/** What a test may read besides the value. */
export interface MatchContext {
  readonly now: number
  /** Charges the evaluation for a match. Returns false when its limit is reached; then the pattern must not run. */
  spendRegexSteps(programSize: number, inputLength: number): boolean
}

/** Evaluates a value that is present. */
export type Test = (value: unknown, context: MatchContext) => Ternary

/** Why a filter's value is invalid for its operator. */
export interface ValueIssue {
  readonly code: IssueCode
  readonly message: string
}

export interface CompiledTest {
  readonly test: Test
  readonly valueIssue?: ValueIssue
  /** The size of the compiled pattern, where there is one. */
  readonly regexSize?: number
}
