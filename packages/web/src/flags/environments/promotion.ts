import type { EnvironmentSet, FlagAcrossEnvironments, PromotionPlan } from '@halyard/contract'
import type { FieldChange } from '../history/change-list.tsx'

export const promotionParts = ['filters', 'payloads', 'tags', 'active'] as const
export type PromotionPart = (typeof promotionParts)[number]
/** The state stays as it is unless it is chosen. */
export const defaultParts: readonly PromotionPart[] = ['filters', 'payloads', 'tags']

/** The environment after the given one; from the last, the one before it. */
export function nextEnvironment({ environments }: Pick<EnvironmentSet, 'environments'>, from: number) {
  const at = environments.findIndex(({ project }) => project === from)
  return environments[at + 1] ?? environments[at - 1] ?? environments[0]
}

type Item = PromotionPlan['items'][number]

/** The changed fields of an item, under the names of the API. */
export const itemChanges = ({ changes }: Pick<Item, 'changes'>): readonly FieldChange[] =>
  changes.flatMap(({ field, before, after }) => (field === null ? [] : [{ field, before, after }]))

export const needsApproval = ({ items }: Pick<PromotionPlan, 'items'>): boolean =>
  items.some(({ requires }) => requires.length > 0)

export const hasChanges = ({ items }: Pick<PromotionPlan, 'items'>): boolean =>
  items.some(({ action }) => action !== 'none')

/** Why a flag cannot be promoted; undefined when it can. */
export type PromotionObstacle = 'missing' | 'same' | 'not_editable'

interface Direction {
  readonly from: number
  readonly to: number
  /** Whether the user can create flags where the key is missing. */
  readonly canCreate: boolean
}

export function promotionObstacle(
  { differs, environments }: Pick<FlagAcrossEnvironments, 'differs' | 'environments'>,
  { from, to, canCreate }: Direction,
): PromotionObstacle | undefined {
  const flagIn = (id: number) => environments.find(({ project }) => project === id)
  const target = flagIn(to)
  if (flagIn(from)?.flag_id == null) return 'missing'
  if (!differs) return 'same'
  const canWrite = target?.flag_id == null ? target !== undefined && canCreate : target.can_edit
  return canWrite ? undefined : 'not_editable'
}
