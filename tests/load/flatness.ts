/** The rise of a linear fit through the last two thirds of the samples; the first third is the warm-up. */
export function riseOf(samples: readonly number[]): { readonly level: number; readonly rise: number } {
  const settled = samples.slice(Math.floor(samples.length / 3))
  const level = mean(settled)
  const middle = (settled.length - 1) / 2
  const spread = settled.reduce((sum, _, index) => sum + (index - middle) ** 2, 0)
  const slope = spread === 0 ? 0 : settled.reduce((sum, y, index) => sum + (index - middle) * (y - level), 0) / spread
  return { level, rise: slope * (settled.length - 1) }
}

const mean = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : numbers.reduce((sum, number) => sum + number, 0) / numbers.length

export const percentile = (numbers: readonly number[], share: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length * share)] ?? 0
