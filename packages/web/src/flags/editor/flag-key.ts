const allowed = /^[A-Za-z0-9_-]*$/

/** What the dashboard accepts as a new key. The API is more lenient, so keys that exist are never rejected. */
export const isValidKey = (key: string): boolean => allowed.test(key)

/** The closest valid key: `My first Flag!` becomes `my-first-flag`. */
export const suggestKey = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-|-$/g, '')
