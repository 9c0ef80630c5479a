/** A window into a list, and what is seen through it. */
export interface Window {
  readonly limit: number
  readonly offset: number
}

export interface PageOf<T> {
  readonly count: number
  readonly items: readonly T[]
}
