import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type ArchiveLimits, archiveFault, createArchiveTally } from './archive-entry.ts'

const blockBytes = 512
const sizeOffset = 124
const sizeBytes = 12
const typeOffset = 156
/** GNU long names, and pax headers for one file (`x`) or all (`g`). */
const extendedTypes = new Set(['L', 'K', 'N', 'x', 'g', 'X'])
/** How many headers are checked before other requests get the event loop. */
const headersPerTick = 1_000

/**
 * Walks the headers of a tar archive by their sizes alone, before the parser sees any of it, because the parser neither
 * counts nor bounds extended headers. Sizes in other encodings are rejected, so both always see the same headers.
 */
export async function checkTarHeaders(tar: Buffer, limits: ArchiveLimits): Promise<void> {
  const tally = createArchiveTally(limits)
  let extendedBytes = 0
  let walked = 0
  for (let offset = 0; offset + blockBytes <= tar.length; ) {
    walked += 1
    if (walked % headersPerTick === 0) await yieldToEventLoop()
    const header = tar.subarray(offset, offset + blockBytes)
    offset += blockBytes
    if (isZero(header)) continue
    const type = String.fromCharCode(header[typeOffset]!)
    const size = readSize(header)
    if (type === '5' && size > 0) throw archiveFault('The archive has a damaged header: a folder with a size.')
    if (offset + size > tar.length) throw archiveFault('The archive ends in the middle of a file.')
    tally(size)
    if (extendedTypes.has(type)) {
      extendedBytes += size
      checkExtended(tar.subarray(offset, offset + size), extendedBytes, limits)
    }
    offset += Math.ceil(size / blockBytes) * blockBytes
  }
}

function checkExtended(content: Buffer, extendedBytes: number, limits: ArchiveLimits): void {
  if (content.length > limits.headerBytesMax) {
    throw archiveFault(`The archive has an extended header larger than ${limits.headerBytesMax} bytes.`)
  }
  if (extendedBytes > limits.headersBytesMax) {
    throw archiveFault(`The archive has more than ${limits.headersBytesMax} bytes of extended headers.`)
  }
  // It would replace the size in the file's own header.
  if (content.includes(' size=')) throw archiveFault('The archive has a file of extended size.')
}

function isZero(block: Buffer): boolean {
  return block[0] === 0 && block.every(byte => byte === 0)
}

function readSize(header: Buffer): number {
  const text = header.toString('latin1', sizeOffset, sizeOffset + sizeBytes)
  const [, digits] = /^([0-7]{1,11})[\0 ]*$/.exec(text) ?? []
  if (digits === undefined) throw archiveFault('The archive has a damaged header: its size is not an octal number.')
  return Number.parseInt(digits, 8)
}
