import type { Evaluation } from '../../evaluation/evaluator.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { GzippedRest } from '../../http/server/gzip-join.ts'
import { InvalidatedCache } from '../../storage/changes/invalidated-cache.ts'
import type { EvaluationUrl } from './evaluation-url.ts'

interface Result {
  readonly served: ServedProject
  readonly evaluation: Evaluation
  readonly hasKeys: boolean
}

/** Caches what responses with the same values have in common. A person's values stay the same until a flag or a property changes. */
export interface GzippedResponses {
  get(url: EvaluationUrl, result: Result, compress: () => GzippedRest | undefined): GzippedRest | undefined
}

const cachedBytesMaxDefault = 64 * 1024 * 1024
/** Of an entry besides its key and its bytes, roughly. */
const entryBytes = 400

interface Entry {
  readonly rest: GzippedRest
  readonly bytes: number
}

export function createGzippedResponses(cachedBytesMax = cachedBytesMaxDefault): GzippedResponses {
  const entries = new InvalidatedCache<Entry>({ sizeMax: cachedBytesMax, sizeOf: ({ bytes }) => bytes })
  /** A version of a project never changes, so that nothing has to be invalidated. */
  const versions = new WeakMap<ServedProject, number>()
  let lastVersion = 0

  function versionOf(served: ServedProject): number {
    const version = versions.get(served) ?? ++lastVersion
    versions.set(served, version)
    return version
  }

  return {
    get({ config, shape }, { evaluation, hasKeys, served }, compress) {
      const values = valuesOf(served.snapshot.flags.length, evaluation)
      if (values === undefined) return compress()
      const key = `${versionOf(served)} ${shape} ${config} ${hasKeys} ${evaluation.isIncomplete} ${values}`
      const cached = entries.peek(key)
      if (cached) return cached.rest
      const rest = compress()
      if (rest) entries.set(key, { rest, bytes: rest.deflated.length + 2 * key.length + entryBytes })
      return rest
    },
  }
}

/** Used by each request in turn. */
let outcomeNumbers = new Uint16Array(1024)
const outcomeMax = 0xffff - 1

/** The outcome of each flag as a character, zero for flags that the response does not contain. Undefined with too many outcomes. */
function valuesOf(flagCount: number, { eligible, outcomes }: Evaluation): string | undefined {
  if (flagCount > outcomeNumbers.length) outcomeNumbers = new Uint16Array(flagCount * 2)
  outcomeNumbers.fill(0, 0, flagCount)
  for (let position = 0; position < eligible.length; position++) {
    const index = eligible[position]!
    const outcome = outcomes.outcomeIndex(index)
    if (outcome > outcomeMax) return undefined
    outcomeNumbers[index] = outcome + 1
  }
  return Buffer.from(outcomeNumbers.buffer, 0, flagCount * outcomeNumbers.BYTES_PER_ELEMENT).toString('utf16le')
}
