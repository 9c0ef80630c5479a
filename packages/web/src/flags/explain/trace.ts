/** The evaluation trace as the server sends it. */
export interface WireTrace {
  readonly flag_id: number
  readonly conditions: readonly WireCondition[]
  readonly holdout: { readonly held_out: boolean } | null
  readonly variant: { readonly key: string | null; readonly forced: boolean; readonly bucket: number | null } | null
}

export interface WireCondition {
  readonly index: number
  readonly group_type: string | null
  readonly reached: boolean
  readonly result: 'matched' | 'out_of_rollout' | 'not_matched' | 'no_group' | 'failed'
  readonly filters: readonly WireFilter[]
  readonly rollout: { readonly bucket: number; readonly threshold: number; readonly inside: boolean } | null
}

export interface WireFilter {
  readonly kind: 'property' | 'cohort' | 'flag'
  readonly matched: boolean
  readonly key?: string | null
  readonly id?: string
  readonly name?: string | null
  readonly operator?: string
  readonly value?: unknown
  readonly expected?: unknown
  readonly present?: boolean
  readonly seen?: unknown
  readonly source?: string
}

/** Checks the shape at the boundary; anything else is not shown. */
export function readTrace(trace: Readonly<Record<string, unknown>> | undefined): WireTrace | undefined {
  return trace && Array.isArray(trace.conditions) ? (trace as unknown as WireTrace) : undefined
}
