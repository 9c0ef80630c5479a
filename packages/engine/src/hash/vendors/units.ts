import { utf8 } from '../utf8.ts'

/** How text becomes the numbers that are hashed. SDKs of one vendor differ here for text that is not ASCII. */
export type Encoding = 'utf-8' | 'utf-16' | 'latin-1'

export const encodings: readonly Encoding[] = ['utf-8', 'utf-16', 'latin-1']

/** `utf-16` gives whole code units and `latin-1` their lower bytes, as hash functions for JavaScript strings do. */
export function unitsOf(text: string, encoding: Encoding): ArrayLike<number> {
  if (encoding === 'utf-8') return utf8(text)
  const mask = encoding === 'latin-1' ? 0xff : 0xffff
  return Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index) & mask)
}
