/** The function of both databases that folds case: registered on each SQLite connection, created by a migration on PostgreSQL. */
export const foldFunction = 'halyard_fold'

/**
 * Lowercase letters that are variants of another one: final sigma, dotless i, long s, mathematical and older forms. Their uppercase is the
 * same letter, so a search in any case has to find them.
 */
export const letterVariants = 'µıſςϐϑϕϖϰϱϵᲀᲁᲂᲃᲄᲅᲆᲇᲈẛ\u0345\u1fbe'
export const variantLetters = 'μisσβθφπκρεвдостт\u044aѣꙋṡιι'

/** Lowercase of a capital I with a dot: an i, followed by a combining dot. */
export const dottedI = 'i\u0307'

const foldedVariants = new Map([...letterVariants].map((variant, n) => [variant, [...variantLetters][n]!]))
const anyVariant = new RegExp(`[${letterVariants}]`, 'gu')
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII, control characters included.
const onlyAscii = /^[\u0000-\u007f]*$/

/** Text in which upper and lower case, in any script, are equal. For comparison only: it is never stored. */
export function foldCase(text: string): string {
  const lower = text.toLowerCase()
  if (onlyAscii.test(lower)) return lower
  return lower.replaceAll(dottedI, 'i').replace(anyVariant, variant => foldedVariants.get(variant) ?? variant)
}
