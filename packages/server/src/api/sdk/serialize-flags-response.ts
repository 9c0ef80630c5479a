import { type CompiledFlag, firstCondition, type Outcome } from '@halyard/engine'
import type { Outcomes } from '../../evaluation/outcomes.ts'
import { createFlagFragments } from './flag-fragments.ts'
import type { ResponseMemory } from './response-memory.ts'

/** How an evaluation is serialized: each generation of SDKs reads its own shape. */
export type ResponseShape = 'details' | 'values' | 'enabled_values' | 'enabled_keys'

/** The parts of a response besides the flags. */
export interface Envelope {
  /** The first fields, from `responseHead`; without them, the response is the rest of a JSON object. */
  readonly head: string
  /** Something besides the evaluation failed, such as a lookup of stored properties. */
  readonly hasErrors: boolean
  /** The configuration of posthog-js, as JSON to append to the other fields. */
  readonly config?: Buffer | undefined
  /** Whether the payloads are also sent as a map, for clients that read it there. */
  readonly hasPayloadMap?: boolean
}

/** The fields of a response that depend on the request alone. The id is the same as in the header `X-Request-Id`. */
export const responseHead = (requestId: string, evaluatedAt: number): string =>
  `{"requestId":${JSON.stringify(requestId)},"evaluatedAt":${evaluatedAt},`

/** Writes the JSON of an evaluation by copying cached fragments, one for each flag and outcome. */
export type FlagsSerializer = (
  flags: readonly CompiledFlag[],
  outcomes: Outcomes,
  eligible: readonly number[],
  shape: ResponseShape,
  envelope: Envelope,
) => Buffer

const fragmentTexts = {
  detail: (flag: CompiledFlag, outcome: Outcome) => member(flag, detailOf(flag, outcome)),
  value: (flag: CompiledFlag, outcome: Outcome) => member(flag, outcome.value),
  payload: (flag: CompiledFlag, outcome: Outcome) => (outcome.payload === null ? '' : member(flag, outcome.payload)),
  enabledValue: (flag: CompiledFlag, outcome: Outcome) => (outcome.enabled ? member(flag, outcome.value) : ''),
  enabledKey: (flag: CompiledFlag, outcome: Outcome) => (outcome.enabled ? `${JSON.stringify(flag.key)},` : ''),
}

type FragmentKind = keyof typeof fragmentTexts

/** A field of the response that lists flags. */
interface Section {
  readonly kind: FragmentKind
  readonly opening: Buffer
  readonly closing: number
}

const section = (kind: FragmentKind, opening: string, closing: string): Section => ({
  kind,
  opening: Buffer.from(opening),
  closing: closing.charCodeAt(0),
})
const payloadMap = section('payload', ',"featureFlagPayloads":{', '}')
const sections: Record<ResponseShape, readonly Section[]> = {
  details: [section('detail', ',"flags":{', '}')],
  values: [section('value', ',"featureFlags":{', '}'), payloadMap],
  enabled_values: [section('enabledValue', ',"featureFlags":{', '}')],
  enabled_keys: [section('enabledKey', ',"featureFlags":[', ']')],
}
const detailsWithPayloadMap = [...sections.details, payloadMap]

const succeeded = Buffer.from('"errorsWhileComputingFlags":false')
const failed = Buffer.from('"errorsWhileComputingFlags":true')
const endOfObject = '}'.charCodeAt(0)

export function createFlagsSerializer(
  take: ResponseMemory['take'] = Buffer.allocUnsafe,
  cachedBytesMax?: number,
): FlagsSerializer {
  const fragmentsOf = createFlagFragments(fragmentTexts, cachedBytesMax)
  return (flags, outcomes, eligible, shape, envelope) => {
    const listed = shape === 'details' && envelope.hasPayloadMap ? detailsWithPayloadMap : sections[shape]
    const fragments = listed.map(({ kind }) => fragmentsOf(kind, flags, outcomes, eligible))
    const hasErrors = envelope.hasErrors || hasFailed(flags, outcomes, eligible)
    return assemble(take, hasErrors ? failed : succeeded, listed, fragments, envelope)
  }
}

function hasFailed(flags: readonly CompiledFlag[], outcomes: Outcomes, eligible: readonly number[]): boolean {
  for (let position = 0; position < eligible.length; position++) {
    const index = eligible[position]!
    const outcome = outcomes.outcomeIndex(index)
    // The outcomes of conditions are never failures.
    if (outcome !== -1 && outcome < firstCondition && flags[index]!.outcomes[outcome]!.failed) return true
  }
  return false
}

function assemble(
  take: ResponseMemory['take'],
  start: Buffer,
  listed: readonly Section[],
  fragments: readonly (readonly Buffer[])[],
  { config, head }: Envelope,
): Buffer {
  let length = head.length + start.length + (config?.length ?? 0) + 1
  for (const [n, { opening }] of listed.entries()) {
    length += opening.length + 1
    for (const fragment of fragments[n]!) length += fragment.length
  }
  const bytes = take(length)
  let at = bytes.write(head, 'latin1')
  at += start.copy(bytes, at)
  for (const [n, { opening, closing }] of listed.entries()) {
    at += opening.copy(bytes, at)
    const from = at
    for (const fragment of fragments[n]!) {
      bytes.set(fragment, at)
      at += fragment.length
    }
    // The bracket replaces the comma of the last fragment.
    if (at > from) at -= 1
    bytes[at++] = closing
  }
  if (config !== undefined) at += config.copy(bytes, at)
  bytes[at] = endOfObject
  return bytes.subarray(0, at + 1)
}

const member = (flag: CompiledFlag, value: unknown): string => `${JSON.stringify(flag.key)}:${JSON.stringify(value)},`

const detailOf = (flag: CompiledFlag, outcome: Outcome) => ({
  key: flag.key,
  enabled: outcome.enabled,
  variant: outcome.variant,
  reason: {
    code: outcome.reason.code,
    condition_index: outcome.reason.conditionIndex,
    description: outcome.reason.description,
  },
  metadata: {
    id: flag.id,
    version: flag.version ?? 1,
    description: null,
    payload: outcome.payload,
    has_experiment: flag.definition.hasExperiment ?? false,
  },
  ...(outcome.failed && { failed: true }),
})
