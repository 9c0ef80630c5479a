import type { BlastRadius as BlastRadiusWire, BodyOf, Flag as FlagWire, routes } from '@halyard/contract'
import {
  applyPatch,
  contentOf,
  type Flag,
  type FreeObject,
  isSimpleFlag,
  newFlagContent,
  rolloutPercentage,
} from '../../domain/flag.ts'
import type { Sampled } from '../../evaluation/scan/scan-request.ts'
import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { blankFlag, contentToWire, patchFromWire } from '../flags/flag-resource.ts'
import type { BlastRadius, Candidate } from './blast-radius.ts'

type Body = BodyOf<typeof routes.flagReach.userBlastRadius>

/** The flag in the body, applied to the flag it would replace, or PostHog's single condition. Throws `invalid`. */
export function candidateFromWire(body: Body, baseline: Flag | undefined, now: Instant): Candidate {
  const patch = patchFromWire(body)
  const start = baseline ? contentOf(baseline) : newFlagContent('', now)
  const content = applyPatch(start, patch)
  if (body.condition === undefined) return { content, hasKey: content.key !== '', baseline }
  const filters = filtersOfCondition(body.condition ?? {}, body.group_type_index ?? null)
  return { content: { ...content, filters }, hasKey: content.key !== '', baseline }
}

/** Ignores the condition's variant, because a single condition is sent without the variants it could refer to. */
function filtersOfCondition(
  { variant: _variant, ...condition }: FreeObject,
  groupTypeIndex: number | null,
): FreeObject {
  const { properties } = condition
  if (groupTypeIndex === null) return { groups: [condition] }
  const isOfGroup = (property: unknown) =>
    (property as { group_type_index?: unknown } | null)?.group_type_index === groupTypeIndex
  if (Array.isArray(properties) && !properties.every(isOfGroup)) {
    throw invalid(
      null,
      'invalid_input',
      `Every property of the condition must have group_type_index ${groupTypeIndex}.`,
    )
  }
  return { groups: [condition], aggregation_group_type_index: groupTypeIndex }
}

/** The candidate in the shape of a flag that is not stored. */
export const candidateToWire = ({ content }: Candidate, actor: Actor, project: Project): FlagWire => ({
  ...blankFlag(actor, project),
  ...contentToWire(content),
  is_simple_flag: isSimpleFlag(content.filters),
  rollout_percentage: rolloutPercentage(content.filters),
})

export interface NamedSample {
  readonly id: string
  readonly distinctId: string | null
  readonly name: string
  readonly sampled: Sampled
}

export function blastRadiusToWire(
  shape: FlagWire,
  { total, affected, on, comparison }: BlastRadius,
  flagId: number | undefined,
  samples: { readonly gained: readonly NamedSample[]; readonly lost: readonly NamedSample[] },
): BlastRadiusWire {
  return {
    ...shape,
    users_affected: affected,
    total_users: total,
    affected,
    total,
    would_be_on: on?.count ?? null,
    variants: Object.fromEntries(on?.variants ?? []),
    conditions: [...(on?.conditions ?? [])]
      .map(([index, count]) => ({ index: Number(index), would_be_on: count }))
      .sort((a, b) => a.index - b.index),
    comparison:
      comparison === undefined || flagId === undefined
        ? null
        : {
            flag_id: flagId,
            currently_on: comparison.currentlyOn,
            gains: comparison.gains,
            losses: comparison.losses,
            changes: comparison.changes,
            sample_gains: samples.gained.map(sampleToWire),
            sample_losses: samples.lost.map(sampleToWire),
          },
  }
}

const sampleToWire = ({ id, distinctId, name, sampled }: NamedSample) => ({
  id,
  distinct_id: distinctId,
  name,
  before: sampled.before,
  after: sampled.after,
})
