import { Problem } from '../problem.ts'
import type { RequestedContent } from './change-request.ts'
import type { Frozen } from './freeze.ts'
import type { Requester } from './permit.ts'
import type { ApprovalPolicy, Impact } from './policy.ts'

/** A change as the content of the request to open, with the policies that it meets: none when it could be made directly. */
export interface ApprovalNeeded extends RequestedContent {
  readonly projectId: number
  /** The key of the flag, or the name of the cohort. */
  readonly name: string
  readonly requester: Requester
  readonly policies: readonly ApprovalPolicy[]
  readonly impact: Impact | null
  /** The keys of flags that release to more people because of it. */
  readonly gaining?: readonly string[]
}

/** Why policies or a freeze do not let a planned change pass. Nothing was written. */
export type Held =
  | { readonly kind: 'needs_approval'; readonly needed: ApprovalNeeded }
  | { readonly kind: 'frozen'; readonly frozen: Frozen }
  /** The approval of a change request no longer suffices: a policy or an approver has changed since. */
  | { readonly kind: 'withdrawn' }
  /** The change affects more people than those who approved it knew. */
  | { readonly kind: 'grown'; readonly before: number; readonly impact: Impact }

/** What became of a planned change. Unless it is saved, nothing was written. */
export type Saved<T> =
  | { readonly kind: 'saved'; readonly value: T }
  | Held
  /** Plugins have to check it, or people have to be counted, before it can be decided. */
  | { readonly kind: 'undecided' }

/** The response to a write that is not saved and needs no approval either. */
export function refusalOf(saved: Exclude<Saved<unknown>, { kind: 'saved' | 'needs_approval' }>): Problem {
  if (saved.kind === 'frozen') return saved.frozen
  return new Problem('conflict', 'The change request was changed meanwhile. Read it again.')
}
