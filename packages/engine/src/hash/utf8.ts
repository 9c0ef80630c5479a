/** UTF-8 encoding. A lone surrogate becomes U+FFFD, as in `TextEncoder`. */
export function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3)
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x80) {
      bytes[length++] = code
      continue
    }
    const isHalf = code >= 0xd800 && code <= 0xdfff
    const point = isHalf ? text.codePointAt(index)! : code
    if (point > 0xffff) index++
    length = writePoint(bytes, length, isHalf && point <= 0xffff ? 0xfffd : point)
  }
  return bytes.subarray(0, length)
}

function writePoint(bytes: Uint8Array, start: number, point: number): number {
  let at = start
  if (point < 0x800) {
    bytes[at++] = 0xc0 | (point >> 6)
  } else {
    if (point < 0x10000) {
      bytes[at++] = 0xe0 | (point >> 12)
    } else {
      bytes[at++] = 0xf0 | (point >> 18)
      bytes[at++] = 0x80 | ((point >> 12) & 0x3f)
    }
    bytes[at++] = 0x80 | ((point >> 6) & 0x3f)
  }
  bytes[at++] = 0x80 | (point & 0x3f)
  return at
}
