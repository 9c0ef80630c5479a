import type { Flag, FlagSummary, FlagWrite } from '@halyard/contract'

/** A flag with its definition, or as a list has it. */
export type ListedFlag = Flag | FlagSummary

/** A flag with patches that the server has not confirmed yet, oldest first. */
export interface OptimisticFlag {
  /** The newest state that the server has sent. */
  readonly base: ListedFlag
  readonly patches: readonly FlagWrite[]
}

/** What the user sees: the server's state with all unconfirmed patches on top. */
export const visibleFlag = ({ base, patches }: OptimisticFlag): ListedFlag => Object.assign({}, base, ...patches)

export const withPatch = (pending: OptimisticFlag | undefined, base: ListedFlag, patch: FlagWrite): OptimisticFlag =>
  pending ? { ...pending, patches: [...pending.patches, patch] } : { base, patches: [patch] }

/** After the patch was confirmed or rejected. Newer patches stay on top, so settling never undoes a later edit. */
export const withoutPatch = ({ base, patches }: OptimisticFlag, settled: FlagWrite): OptimisticFlag => ({
  base,
  patches: patches.filter(patch => patch !== settled),
})

/** A state from the server. Responses may arrive out of order, so an older version is ignored. */
export const rebased = (pending: OptimisticFlag, server: ListedFlag): OptimisticFlag =>
  server.version < pending.base.version ? pending : { ...pending, base: server }
