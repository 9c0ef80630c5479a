export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** The shortest edit script between two lists of lines, by longest common subsequence. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const lengths = commonLengths(before, after)
  const lines: DiffLine[] = []
  let a = 0
  let b = 0
  while (a < before.length || b < after.length) {
    if (a < before.length && b < after.length && before[a] === after[b]) {
      lines.push({ kind: 'same', text: before[a] as string })
      a++
      b++
    } else if (a < before.length && (b >= after.length || at(lengths, a + 1, b) >= at(lengths, a, b + 1))) {
      lines.push({ kind: 'removed', text: before[a++] as string })
    } else {
      lines.push({ kind: 'added', text: after[b++] as string })
    }
  }
  return lines
}

const at = (table: readonly (readonly number[])[], a: number, b: number): number => table[a]?.[b] ?? 0

function commonLengths(before: readonly string[], after: readonly string[]): number[][] {
  const table = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0))
  for (let a = before.length - 1; a >= 0; a--) {
    for (let b = after.length - 1; b >= 0; b--) {
      const row = table[a] as number[]
      row[b] = before[a] === after[b] ? at(table, a + 1, b + 1) + 1 : Math.max(at(table, a + 1, b), at(table, a, b + 1))
    }
  }
  return table
}
