/** Different for all numbers below 2³², and in random order, as ids of real persons are. */
export const distinctIdOf = (index: number): string => `p-${Math.imul(index, 0x9e3779b1) >>> 0}`
