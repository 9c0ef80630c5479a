/** Databases limit the parameters of one statement: long lists are written and read in parts. */
export function* inParts<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
