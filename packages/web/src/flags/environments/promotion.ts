import type { EnvironmentSet, PromotionPlan } from '@halyard/contract'
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
