import { type CompiledFlag, firstCondition } from '@halyard/engine'
import type { Envelope } from '../api/sdk/serialize-flags-response.ts'
import { flagDetail } from '../api/sdk/serialize-flags-response.ts'
import type { Outcomes } from '../evaluation/outcomes.ts'
import type { ServedProject } from '../evaluation/projects/served-project.ts'
import { headBytesMax, type ResponseBody } from './fast-response.ts'
import { type FragmentStore, openFragmentStore } from './fragment-store.ts'
import type { ResponseMemory } from './response-batch.ts'

/**
 * Serializes an evaluation by copying prepared fragments. The bytes equal the JSON of `serializeFlagsResponse`. Undefined when that
 * has to serialize it: it is very large, or the runtime forbids WebAssembly.
 */
export type FlagsResponseTemplate = (
  outcomes: Outcomes,
  eligible: readonly number[],
  envelope: Envelope,
  memory: ResponseMemory,
) => ResponseBody | undefined

/**
 * Where the serialized results of a flag, `,"key":{…}`, are: address and length by outcome. A fragment is made when it is first
 * needed; until then its length is 0.
 */
type Spans = Int32Array

/** Larger fragments are not stored: one flag with a large payload has many outcomes. */
const fragmentBytesMax = 1024 * 1024
const storedBytesMax = 48 * 1024 * 1024
/** Larger responses are not assembled: the memory of the store never shrinks. */
const assembledBytesMax = 8 * 1024 * 1024

/** Fragments live as long as the compiled flag they belong to: after a change of one flag, only its own are made again. */
export function createFlagsResponseTemplates(
  bytesMax = storedBytesMax,
): (served: ServedProject) => FlagsResponseTemplate {
  const store = openFragmentStore()
  if (store === undefined) return () => () => undefined
  let templates = new WeakMap<ServedProject, FlagsResponseTemplate>()
  let spans = new WeakMap<CompiledFlag, Spans>()

  function spansOf(flag: CompiledFlag): Spans {
    const known = spans.get(flag) ?? new Int32Array(flag.outcomes.length * 2)
    spans.set(flag, known)
    return known
  }

  return served => {
    if (store.size > bytesMax) {
      templates = new WeakMap()
      spans = new WeakMap()
      store.clear()
    }
    const known = templates.get(served)
    if (known !== undefined) return known
    const { flags } = served.snapshot
    const template = templateOf(flags, flags.map(spansOf), store)
    templates.set(served, template)
    return template
  }
}

const opening = Buffer.from('{"errorsWhileComputingFlags":false,"flags":{')
const openingWithErrors = Buffer.from('{"errorsWhileComputingFlags":true,"flags":{')
const flagsFrom = headBytesMax + opening.length
const endOfObject = 0x7d

function templateOf(
  flags: readonly CompiledFlag[],
  spansOfFlags: readonly Spans[],
  store: FragmentStore,
): FlagsResponseTemplate {
  // All spans in one array: the next ones are read from the cache.
  const starts = new Int32Array(flags.length)
  const spans = new Int32Array(spansOfFlags.reduce((length, own) => length + own.length, 0))
  let length = 0
  for (const [index, own] of spansOfFlags.entries()) {
    starts[index] = length
    spans.set(own, length)
    length += own.length
  }
  /** The spans of the fragments of one response. */
  const list = new Int32Array(flags.length * 2)

  function addFragment(index: number, outcome: number): boolean {
    const flag = flags[index]!
    const detail = JSON.stringify(flagDetail(flag, flag.outcomes[outcome]!))
    const fragment = Buffer.from(`,${JSON.stringify(flag.key)}:${detail}`)
    if (fragment.length > fragmentBytesMax) return false
    const span = [store.add(fragment), fragment.length]
    spansOfFlags[index]!.set(span, outcome * 2)
    spans.set(span, starts[index]! + outcome * 2)
    return true
  }

  return (outcomes, eligible, { config, evaluatedAt, hasErrors, requestId }, memory) => {
    let count = 0
    let flagsBytes = 0
    let hasFailed = hasErrors
    for (let position = 0; position < eligible.length; position++) {
      const index = eligible[position]!
      const outcome = outcomes.outcomeIndex(index)
      if (outcome === -1) continue
      // The outcomes of conditions are never failures.
      if (outcome < firstCondition && flags[index]!.outcomes[outcome]!.failed) hasFailed = true
      const span = starts[index]! + outcome * 2
      if (spans[span + 1] === 0 && !addFragment(index, outcome)) return undefined
      list[count * 2] = spans[span]!
      list[count * 2 + 1] = spans[span + 1]!
      flagsBytes += spans[span + 1]!
      if (flagsBytes > assembledBytesMax) return undefined
      count += 1
    }
    const tail = `},"requestId":"${requestId}","evaluatedAt":${evaluatedAt}`
    const end = flagsFrom + flagsBytes
    const to = end + tail.length + (config?.json.length ?? 0) + 1
    const bytes = memory.take(to)
    store.copy(list, count, flagsBytes, bytes, flagsFrom)
    bytes.write(tail, end, 'latin1')
    if (config !== undefined) bytes.set(config.json, end + tail.length)
    bytes[to - 1] = endOfObject
    const start = hasFailed ? openingWithErrors : opening
    // The opening overwrites the comma of the first fragment.
    const from = flagsFrom + (count > 0 ? 1 : 0) - start.length
    bytes.set(start, from)
    return { bytes, from, to }
  }
}
