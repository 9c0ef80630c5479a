/**
 * Limits of regular expressions. Matching takes time in proportion to the size of the compiled program times the length
 * of the input, so both are bounded, and their products are summed up for each evaluation.
 */

/** Characters of a pattern. */
export const patternLengthMax = 1000

/** Instructions of a compiled pattern. */
export const programSizeMax = 1000

/** Instructions of all patterns of one flag or cohort, as `estimateProgramSize` counts them. */
export const programSizeSumMax = 20_000

/** Characters of a value that a pattern is matched against; a longer value never matches. */
export const inputLengthMax = 4096

/** Instructions times characters, summed up over one evaluation. */
export const evaluationStepsMax = 2_000_000

/** Reading a Unicode table costs about as much as compiling this many instructions. */
const unicodeTableSize = 20
const unicodeTable = /\\[pP]/g

/** Sets flags and is no atom, so a repetition after it is about the atom before it. */
const flagGroup = /^\(\?[a-zA-Z-]+\)/
const repetition = /^\{(\d+)(?:,(\d*))?\}/

/**
 * An upper bound of the size of a compiled pattern, found without compiling it: repetitions multiply. Compiling takes
 * time in proportion to it.
 */
export function estimateProgramSize(pattern: string): number {
  /** The sizes of the open groups, and of the last atom of each, which a repetition multiplies. */
  const groups = [{ size: 3, atom: 0 }]
  for (let index = 0; index < pattern.length; index++) {
    const group = groups.at(-1)!
    const character = pattern[index]!
    const flags = character === '(' ? flagGroup.exec(pattern.slice(index, index + 12)) : null
    if (flags !== null) {
      index += flags[0].length - 1
    } else if (character === '(') {
      groups.push({ size: 3, atom: 0 })
    } else if (character === ')' && groups.length > 1) {
      groups.pop()
      addAtom(groups.at(-1)!, group.size + group.atom)
    } else if (character === '{') {
      const counts = repetition.exec(pattern.slice(index, index + 24))
      if (counts === null) {
        addAtom(group, 1)
      } else {
        index += counts[0].length - 1
        group.atom *= Math.max(Number(counts[1]), Number(counts[2] || 0)) + 1
        // An optional repetition takes a branch for each copy.
        if (counts[2] !== undefined) group.atom *= 2
      }
    } else if (character === '*' || character === '+' || character === '?') {
      // A branch, and one more where the atom can be empty.
      group.atom += 2
    } else if (character === '[') {
      index = classEnd(pattern, index)
      addAtom(group, 1)
    } else if (character === '\\') {
      index += 1
      addAtom(group, 1)
    } else {
      addAtom(group, character === '|' ? 2 : 1)
    }
  }
  const tables = (pattern.match(unicodeTable)?.length ?? 0) * unicodeTableSize
  return groups.reduce((sum, { size, atom }) => sum + size + atom, tables)
}

function addAtom(group: { size: number; atom: number }, size: number): void {
  group.size += group.atom
  group.atom = size
}

/** The position of the bracket that closes a class, or of the pattern's last character. */
function classEnd(pattern: string, start: number): number {
  for (let index = start + 1; index < pattern.length; index++) {
    if (pattern[index] === '\\') index += 1
    else if (pattern[index] === ']' && index > start + 1 && pattern.slice(start, index) !== '[^') return index
  }
  return pattern.length - 1
}
