import type { Variant } from '../../filters.ts'

const total = 100
const toTwoDecimals = (value: number): number => Math.round(value * 100) / 100

/** Sets the weight of one variant and scales the others so that the sum stays 100. */
export function withWeight(variants: readonly Variant[], index: number, weight: number): Variant[] {
  const wanted = toTwoDecimals(Math.max(0, Math.min(total, weight)))
  if (variants.length === 1) return variants.map(variant => ({ ...variant, rollout_percentage: total }))
  const others = variants.reduce((sum, variant, at) => (at === index ? sum : sum + variant.rollout_percentage), 0)
  const left = total - wanted
  const scaled = variants.map((variant, at) => {
    if (at === index) return wanted
    return toTwoDecimals(others === 0 ? left / (variants.length - 1) : (variant.rollout_percentage / others) * left)
  })
  return distributeRemainder(variants, scaled, index)
}

export function evenly(variants: readonly Variant[]): Variant[] {
  const even = Math.floor((total / variants.length) * 100) / 100
  return distributeRemainder(
    variants,
    variants.map(() => even),
    -1,
  )
}

/** The rounding remainder goes to the last variant that was not set explicitly. */
function distributeRemainder(variants: readonly Variant[], weights: number[], fixed: number): Variant[] {
  const rest = toTwoDecimals(total - weights.reduce((sum, weight) => sum + weight, 0))
  const last = fixed === variants.length - 1 ? variants.length - 2 : variants.length - 1
  return variants.map((variant, at) => ({
    ...variant,
    rollout_percentage: toTwoDecimals((weights[at] ?? 0) + (at === last ? rest : 0)),
  }))
}

/** A new variant gets an even share, taken from the others. */
export function addVariant(variants: readonly Variant[]): Variant[] {
  const taken = new Set(variants.map(({ key }) => key))
  let number = variants.length + 1
  while (taken.has(nameOf(number))) number++
  const added = [...variants, { key: nameOf(number), rollout_percentage: 0 }]
  return evenly(added)
}

const nameOf = (number: number): string => (number === 1 ? 'control' : number === 2 ? 'test' : `variant-${number}`)

export function removeVariant(variants: readonly Variant[], index: number): Variant[] {
  const left = variants.filter((_, at) => at !== index)
  if (left.length === 0) return []
  const sum = left.reduce((all, variant) => all + variant.rollout_percentage, 0)
  return sum === 0 ? evenly(left) : withWeight(left, 0, ((left[0]?.rollout_percentage ?? 0) / sum) * total)
}
