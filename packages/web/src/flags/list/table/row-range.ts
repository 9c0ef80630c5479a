/** Indexes of the first and the last row. */
export interface RowRange {
  readonly first: number
  readonly last: number
}

interface Position {
  readonly top: number
  readonly height: number
  readonly rowPixels: number
  readonly overscan: number
}

/** The rows that a list shows at a scroll position, and some beyond. */
export function rangeAt({ top, height, rowPixels, overscan }: Position): RowRange {
  const first = Math.floor(top / rowPixels) - overscan
  const last = Math.ceil((top + height) / rowPixels) - 1 + overscan
  return { first: Math.max(0, first), last: Math.max(0, last) }
}

/** As many rows of a list that has become shorter: the browser adjusts the scroll position only after the next layout. */
export function withinCount({ first, last }: RowRange, count: number): RowRange {
  const excess = Math.max(0, last - (count - 1))
  return { first: Math.max(0, first - excess), last: last - excess }
}
