import type { CompiledFlag, Outcome } from '@halyard/engine'
import type { Outcomes } from '../../evaluation/outcomes.ts'

/** The JSON of one flag with one outcome, ending with a comma; empty when the response does not mention the flag. */
export type FragmentText = (flag: CompiledFlag, outcome: Outcome) => string

/** The fragments of the eligible flags with their outcomes, in order. */
export type FlagFragments<Kind extends string> = (
  kind: Kind,
  flags: readonly CompiledFlag[],
  outcomes: Outcomes,
  eligible: readonly number[],
) => readonly Buffer[]

/** Larger fragments are not cached: one flag with a large payload has many outcomes. */
const fragmentBytesMax = 64 * 1024
const cachedBytesMaxDefault = 48 * 1024 * 1024

/** The fragments of a flag by outcome, made when they are first needed. */
type Fragments = (Buffer | undefined)[]

/** Fragments live as long as the compiled flag they belong to: after a change of one flag, only its own are made again. */
interface Cache {
  readonly byFlag: WeakMap<CompiledFlag, Fragments>
  /** The same by position, for each version of a project's flags. */
  readonly tables: WeakMap<readonly CompiledFlag[], readonly Fragments[]>
}

export function createFlagFragments<Kind extends string>(
  texts: Readonly<Record<Kind, FragmentText>>,
  cachedBytesMax = cachedBytesMaxDefault,
): FlagFragments<Kind> {
  const emptyCaches = () =>
    Object.fromEntries(
      Object.keys(texts).map(kind => [kind, { byFlag: new WeakMap(), tables: new WeakMap() }]),
    ) as Record<Kind, Cache>
  let cached = emptyCaches()
  let cachedBytes = 0

  function makeFragment(kind: Kind, flag: CompiledFlag, outcome: number, fragments: Fragments): Buffer {
    const fragment = Buffer.from(texts[kind](flag, flag.outcomes[outcome]!))
    if (fragment.length <= fragmentBytesMax) {
      fragments[outcome] = fragment
      cachedBytes += fragment.length
    }
    return fragment
  }

  function tableOf({ byFlag, tables }: Cache, flags: readonly CompiledFlag[]): readonly Fragments[] {
    const existing = tables.get(flags)
    if (existing) return existing
    const table = flags.map(flag => {
      const fragments = byFlag.get(flag) ?? new Array(flag.outcomes.length)
      byFlag.set(flag, fragments)
      return fragments
    })
    tables.set(flags, table)
    return table
  }

  return (kind, flags, outcomes, eligible) => {
    if (cachedBytes > cachedBytesMax) {
      cached = emptyCaches()
      cachedBytes = 0
    }
    const table = tableOf(cached[kind], flags)
    const fragments: Buffer[] = []
    for (let position = 0; position < eligible.length; position++) {
      const index = eligible[position]!
      const outcome = outcomes.outcomeIndex(index)
      if (outcome === -1) continue
      const own = table[index]!
      fragments.push(own[outcome] ?? makeFragment(kind, flags[index]!, outcome, own))
    }
    return fragments
  }
}
