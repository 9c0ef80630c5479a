import { type CompiledFlag, firstCondition } from '@halyard/engine'
import type { Envelope } from '../api/sdk/serialize-flags-response.ts'
import { flagDetail } from '../api/sdk/serialize-flags-response.ts'
import type { Outcomes } from '../evaluation/outcomes.ts'
import type { ServedProject } from '../evaluation/projects/served-project.ts'
import { headBytesMax, type ResponseBody } from './fast-response.ts'
import type { ResponseBuffer } from './response-buffer.ts'

/** Serializes an evaluation by copying prepared fragments. The bytes equal the JSON of `serializeFlagsResponse`. */
export type FlagsResponseTemplate = (
  outcomes: Outcomes,
  eligible: readonly number[],
  envelope: Envelope,
  buffer: ResponseBuffer,
) => ResponseBody

/** The serialized results of one flag, `,"key":{…}`, by outcome. A fragment is made when it is first needed. */
type Fragments = (Buffer | undefined)[]

/** Larger fragments are serialized each time: one flag with a large payload has many outcomes. */
const fragmentBytesMax = 64 * 1024
const cacheBytesMax = 48 * 1024 * 1024

/** Fragments live as long as the compiled flag they belong to: after a change of one flag, only its own are made again. */
export function createFlagsResponseTemplates(
  bytesMax = cacheBytesMax,
): (served: ServedProject) => FlagsResponseTemplate {
  let templates = new WeakMap<ServedProject, FlagsResponseTemplate>()
  let fragments = new WeakMap<CompiledFlag, Fragments>()
  let cachedBytes = 0

  const cache: FragmentCache = {
    of(flag) {
      const known = fragments.get(flag) ?? []
      fragments.set(flag, known)
      return known
    },
    add(bytes) {
      cachedBytes += bytes
    },
  }

  return served => {
    if (cachedBytes > bytesMax) {
      templates = new WeakMap()
      fragments = new WeakMap()
      cachedBytes = 0
    }
    const known = templates.get(served)
    if (known !== undefined) return known
    const template = templateOf(served.snapshot.flags, cache)
    templates.set(served, template)
    return template
  }
}

interface FragmentCache {
  of(flag: CompiledFlag): Fragments
  add(bytes: number): void
}

const opening = Buffer.from('{"errorsWhileComputingFlags":false,"flags":{')
const openingWithErrors = Buffer.from('{"errorsWhileComputingFlags":true,"flags":{')
const flagsFrom = headBytesMax + opening.length
const endOfObject = 0x7d
/** Most responses fit into this at the first attempt. */
const bytesPerFlag = 400

function templateOf(flags: readonly CompiledFlag[], cache: FragmentCache): FlagsResponseTemplate {
  const rows = flags.map(flag => cache.of(flag))
  let flagsBytes = flagsFrom + flags.length * bytesPerFlag
  let hasFailed = false

  function makeFragment(index: number, outcome: number): Buffer {
    const flag = flags[index]!
    const detail = JSON.stringify(flagDetail(flag, flag.outcomes[outcome]!))
    const fragment = Buffer.from(`,${JSON.stringify(flag.key)}:${detail}`)
    if (fragment.length <= fragmentBytesMax) {
      rows[index]![outcome] = fragment
      cache.add(fragment.length)
    }
    return fragment
  }

  /** Returns where the flags end, or -1 when the buffer is too small for them. */
  function copyFlags(outcomes: Outcomes, eligible: readonly number[], bytes: Buffer, limit: number): number {
    let end = flagsFrom
    hasFailed = false
    for (let position = 0; position < eligible.length; position++) {
      const index = eligible[position]!
      const outcome = outcomes.outcomeIndex(index)
      if (outcome === -1) continue
      const fragment = rows[index]![outcome] ?? makeFragment(index, outcome)
      if (end + fragment.length > limit) return -1
      bytes.set(fragment, end)
      end += fragment.length
      // The outcomes of conditions are never failures: most flags need not be read.
      if (outcome < firstCondition && flags[index]!.outcomes[outcome]!.failed) hasFailed = true
    }
    return end
  }

  return (outcomes, eligible, { config, evaluatedAt, hasErrors, requestId }, buffer) => {
    const tail = `},"requestId":"${requestId}","evaluatedAt":${evaluatedAt}`
    const tailBytes = tail.length + (config?.json.length ?? 0) + 1
    let bytes = buffer.take(flagsBytes + tailBytes)
    let end = copyFlags(outcomes, eligible, bytes, bytes.length - tailBytes)
    while (end === -1) {
      flagsBytes *= 2
      bytes = buffer.take(flagsBytes + tailBytes)
      end = copyFlags(outcomes, eligible, bytes, bytes.length - tailBytes)
    }
    bytes.write(tail, end, 'latin1')
    if (config !== undefined) bytes.set(config.json, end + tail.length)
    const to = end + tailBytes
    bytes[to - 1] = endOfObject
    const start = hasErrors || hasFailed ? openingWithErrors : opening
    // The opening overwrites the comma of the first fragment.
    const from = flagsFrom + (end > flagsFrom ? 1 : 0) - start.length
    bytes.set(start, from)
    return { bytes, from, to, buffer }
  }
}
