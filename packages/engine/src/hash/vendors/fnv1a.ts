/** FNV-1a with 32 bits. */
export function fnv1a(units: ArrayLike<number>): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < units.length; at++) hash = Math.imul(hash ^ units[at]!, 0x01000193)
  return hash >>> 0
}
