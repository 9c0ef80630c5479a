import { invalid } from '../../../problem.ts'

/** Far beyond what people and bundlers write, and far below what exhausts the compiler's stack. */
export const nestingMax = 2_000

/**
 * Raises `invalid` for code that is nested too deeply to be compiled. One pass over the characters: brackets inside
 * strings and comments count too, because only a parser can distinguish them.
 */
export function checkNesting(name: string, text: string): void {
  let depth = 0
  let prefixes = 0
  for (let index = 0; index < text.length; index += 1) {
    const kind = kinds[text.charCodeAt(index)]
    if (kind === undefined) {
      prefixes = 0
      continue
    }
    if (kind === 'open') depth += 1
    else if (kind === 'close' && depth > 0) depth -= 1
    if (kind === 'prefix') prefixes += 1
    else if (kind !== 'blank') prefixes = 0
    if (depth > nestingMax || prefixes > nestingMax) {
      throw invalid(name, 'compile_error', `${name}: the code is nested deeper than ${nestingMax} levels.`)
    }
  }
}

type Kind = 'open' | 'close' | 'prefix' | 'blank'

/** By character code. */
const kinds: readonly (Kind | undefined)[] = tableOf({ open: '([{', close: ')]}', prefix: '!~+-', blank: ' \t\r\n' })

function tableOf(characters: Readonly<Record<Kind, string>>): (Kind | undefined)[] {
  const table: (Kind | undefined)[] = []
  for (const [kind, all] of Object.entries(characters)) {
    for (const character of all) table[character.charCodeAt(0)] = kind as Kind
  }
  return table
}
