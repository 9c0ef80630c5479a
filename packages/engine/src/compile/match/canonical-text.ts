import { valueDepthMax } from '../../definition/json.ts'

/**
 * The string that equality compares: strings unchanged, anything else as compact JSON with sorted keys.
 *
 * `certain` is false where PostHog SDKs decline: JavaScript cannot distinguish 5 from 5.0, and a lone surrogate has no
 * UTF-8 form.
 */
export interface CanonicalText {
  readonly text: string
  readonly certain: boolean
}

const loneSurrogate = /\p{Surrogate}/u

/** The built-in method is faster where it exists. */
export const isWellFormed: (text: string) => boolean =
  'isWellFormed' in String.prototype
    ? text => (text as unknown as { isWellFormed(): boolean }).isWellFormed()
    : text => !loneSurrogate.test(text)

export function canonicalText(value: unknown): CanonicalText {
  if (typeof value === 'string') return { text: value, certain: isWellFormed(value) }
  const writing = { certain: true }
  return { text: write(value, writing, 0), certain: writing.certain }
}

function write(value: unknown, writing: { certain: boolean }, depth: number): string {
  switch (typeof value) {
    case 'string':
      if (!isWellFormed(value)) writing.certain = false
      return JSON.stringify(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      if (Number.isInteger(value) || !Number.isFinite(value)) writing.certain = false
      return String(value)
    case 'object':
      return value === null ? 'null' : writeComposite(value, writing, depth)
    default:
      writing.certain = false
      return typeof value
  }
}

function writeComposite(value: object, writing: { certain: boolean }, depth: number): string {
  if (depth >= valueDepthMax) {
    writing.certain = false
    return '…'
  }
  if (Array.isArray(value)) {
    return `[${Array.from(value, item => (item === undefined ? 'null' : write(item, writing, depth + 1))).join(',')}]`
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) writing.certain = false
  const record = value as Record<string, unknown>
  const fields = Object.keys(record)
    .sort(byCodePoint)
    .map(key => `${write(key, writing, depth)}:${write(record[key], writing, depth + 1)}`)
  return `{${fields.join(',')}}`
}

/** UTF-8 order, which differs from UTF-16 order outside the Basic Multilingual Plane. */
function byCodePoint(left: string, right: string): number {
  const leftPoints = Array.from(left, point => point.codePointAt(0)!)
  const rightPoints = Array.from(right, point => point.codePointAt(0)!)
  const length = Math.min(leftPoints.length, rightPoints.length)
  for (let index = 0; index < length; index++) {
    const difference = leftPoints[index]! - rightPoints[index]!
    if (difference !== 0) return difference
  }
  return leftPoints.length - rightPoints.length
}
