import type { ApprovalPolicy, FlagWrite, Freeze } from '@halyard/contract'

/** What stands between a change and its save. */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'loading' }
  /** Whether approval is needed cannot be foreseen; the server decides when it is saved. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'approval' }
  | { readonly kind: 'frozen'; readonly until: string; readonly reason: string; readonly canSwitchOff: boolean }

export const openGate: Gate = { kind: 'open' }

/** Only the switch is turned off: freezes let it pass, and policies too unless one names it. */
export const isSwitchingOff = (patch: FlagWrite): boolean =>
  patch.active === false && Object.keys(patch).every(field => field === 'active')

/** The freeze in force that ends last. */
export function freezeInForce(freezes: readonly Freeze[], tags: readonly unknown[]): Freeze | undefined {
  return freezes
    .filter(({ current_end, tag }) => current_end !== null && (tag === null || tags.includes(tag)))
    .sort((a, b) => ((a.current_end ?? '') < (b.current_end ?? '') ? 1 : -1))[0]
}

/** Whether the server has to be asked if a patch needs approval. */
export const mayNeedApproval = (policies: readonly ApprovalPolicy[], patch: FlagWrite): boolean =>
  policies.some(
    ({ enabled, action_key }) => enabled && (!isSwitchingOff(patch) || action_key === 'feature_flag.disable'),
  )
