/** A pure function of a text that keeps its last answer: filters often ask about the same value one after another. */
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
