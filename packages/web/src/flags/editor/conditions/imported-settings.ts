import type { Messages } from '../../../i18n/en.ts'

/** Settings that imported flags have and the editor only shows: saving leaves them as they are. */
interface WithSettings {
  readonly [extra: string]: unknown
  readonly value?: unknown
  readonly split?: unknown
  readonly bucketing?: unknown
}

/** A sentence for each. */
export function importedSettings({ value, split, bucketing }: WithSettings, { editor: t }: Messages): string[] {
  const sentences: string[] = []
  if (value === false) sentences.push(t.turnsOff)
  if (isRecord(split)) {
    const parts = (Array.isArray(split.variants) ? split.variants : []).filter(isRecord)
    sentences.push(t.splitBetween(parts.map(part => `${nameOf(part, t)} ${sizeOf(part)}`).join(', ')))
    if (isRecord(split.bucketing)) sentences.push(t.splitLike(bucketingText(split.bucketing)))
  }
  if (isRecord(bucketing)) sentences.push(t.bucketedLike(bucketingText(bucketing)))
  return sentences
}

type Json = Readonly<Record<string, unknown>>
const isRecord = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const nameOf = ({ variant, value }: Json, t: Messages['editor']): string =>
  variant === undefined ? (value === true ? t.on : t.off) : String(variant)

const sizeOf = ({ weight, range }: Json): string => (Array.isArray(range) ? range.join('–') : String(weight))

/** `launchdarkly (seed checkout.7f3a, by company)`: parameters stay as they are in the definition. */
function bucketingText({ algorithm, ...parameters }: Json): string {
  const list = Object.entries(parameters).map(([name, value]) => `${name} ${String(value)}`)
  return list.length === 0 ? String(algorithm) : `${String(algorithm)} (${list.join(', ')})`
}
