/** Memoizes the last result: consecutive filters often test the same value. */
export function memoizeLast<T>(compute: (text: string) => T): (text: string) => T {
  let lastText: string | undefined
  let last: T
  return text => {
    if (text !== lastText) {
      last = compute(text)
      lastText = text
    }
    return last
  }
}
