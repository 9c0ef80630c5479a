/** Rejects saves that violate house rules. Switching a flag off or deleting it is always allowed. */

interface Flag {
  active: boolean
  deleted: boolean
  tags: unknown[]
  filters: { groups?: { rollout_percentage?: number | null }[] }
  previous: Omit<Flag, 'previous'> | null
}

interface Meta {
  config: { ownerPrefix?: string; jumpMax?: string }
}

export function beforeFlagSave(flag: Flag, { config }: Meta): string | undefined {
  if (!flag.active || flag.deleted) return undefined
  return missingOwner(flag, config.ownerPrefix ?? '') ?? tooFar(flag, Number(config.jumpMax || 100))
}

function missingOwner({ tags }: Flag, prefix: string): string | undefined {
  if (prefix === '' || tags.some(tag => typeof tag === 'string' && tag.startsWith(prefix))) return undefined
  return `Add a tag that names the owner of this flag, such as ${prefix}payments.`
}

function tooFar({ filters, previous }: Flag, jumpMax: number): string | undefined {
  const before = previous?.active ? widest(previous.filters) : 0
  const after = widest(filters)
  if (after - before <= jumpMax) return undefined
  return `The rollout would change from ${before}% to ${after}%; at most ${jumpMax} percentage points per change are allowed.`
}

/** A condition without a percentage is rolled out to 100 %. */
function widest({ groups = [] }: Flag['filters']): number {
  return Math.max(0, ...groups.map(group => group.rollout_percentage ?? 100))
}
