/** The pattern of `like … escape '\'` that finds a text anywhere in `lower(column)`. Both databases fold only A to Z, so we do as well. */
export const containing = (text: string): string =>
  `%${text.replace(/[A-Z]/g, letter => letter.toLowerCase()).replace(/[\\%_]/g, found => `\\${found}`)}%`
