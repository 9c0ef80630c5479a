/** A pure function of a text that keeps what it has found, for so many texts at most; then it begins anew. */
export function memoizeByKey<T>(textsMax: number, compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return text => {
    const remembered = known.get(text)
    if (remembered !== undefined) return remembered
    const found = compute(text)
    if (known.size >= textsMax) known.clear()
    known.set(text, found)
    return found
  }
}
