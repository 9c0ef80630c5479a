import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { bucketOf, bucketOfPacked, flagPrefix, PLAIN, unitOf, VARIANT } from './bucket.ts'
import { openBatch } from './hash-batch.ts'
import { blockCount, layWords, messageLength, packIdentifier } from './pack.ts'
import { groupWords, lanesModule, messagesStart, openLanes } from './sha1-lanes.ts'
import { utf8 } from './utf8.ts'

function reference(text: string): number {
  const digest = createHash('sha1').update(text, 'utf8').digest('hex')
  return Number.parseInt(digest.slice(0, 15), 16) / 2 ** 60
}

const key = fc.string({ unit: 'binary', maxLength: 80 })
const identifier = fc.string({ unit: 'binary', maxLength: 200 })

describe('a bucket', () => {
  it('is what the digest of the text gives, of any length', () => {
    const reused = packIdentifier('somebody before')
    fc.assert(
      fc.property(key, identifier, (flagKey, id) => {
        const prefix = flagPrefix(flagKey)
        const packed = reused.open(id)
        expect(bucketOf(prefix, id, PLAIN)).toBe(reference(`${flagKey}.${id}`))
        expect(bucketOf(prefix, id, VARIANT)).toBe(reference(`${flagKey}.${id}variant`))
        expect(bucketOfPacked(prefix.words, 0, prefix.length, packed, PLAIN)).toBe(reference(`${flagKey}.${id}`))
        expect(bucketOfPacked(prefix.words, 0, prefix.length, packed, VARIANT)).toBe(
          reference(`${flagKey}.${id}variant`),
        )
      }),
    )
    for (let length = 0; length < 300; length++) {
      const id = 'x'.repeat(length)
      expect(bucketOf(flagPrefix('key'), id, PLAIN)).toBe(reference(`key.${id}`))
    }
  })
})

describe('four lanes', () => {
  it('come in a module that browsers compile at once', () => {
    expect(lanesModule().length).toBeLessThan(4096)
  })

  it('give what plain JavaScript gives', () => {
    const lanes = openLanes()!
    fc.assert(
      fc.property(
        fc.array(fc.tuple(key, identifier), { minLength: 4, maxLength: 4 }),
        fc.constantFrom(1, 2, 3),
        (messages, blocks) => {
          const fitting = messages.map(([flagKey, id]) => ({
            prefix: flagPrefix(flagKey),
            identifier: packIdentifier(id),
          }))
          for (const [lane, { prefix, identifier: id }] of fitting.entries()) {
            if (blockCount(messageLength(prefix.length, id, PLAIN)) !== blocks) continue
            layWords(
              prefix.words,
              0,
              prefix.length,
              id,
              PLAIN,
              blocks,
              lanes.memory,
              messagesStart + groupWords * blocks + lane,
              4,
            )
          }
          lanes.hash(messagesStart, 2, blocks)
          for (const [lane, { prefix, identifier: id }] of fitting.entries()) {
            if (blockCount(messageLength(prefix.length, id, PLAIN)) !== blocks) continue
            const at = messagesStart + groupWords * blocks + lane
            expect(unitOf(lanes.memory[at]!, lanes.memory[at + 4]!)).toBe(
              bucketOfPacked(prefix.words, 0, prefix.length, id, PLAIN),
            )
          }
        },
      ),
    )
  })
})

describe('a batch', () => {
  it('delivers every bucket, however many there are and however long', () => {
    const batch = openBatch(openLanes())!
    const ids = Array.from({ length: 1500 }, (_, index) => `${index}${'x'.repeat(index % 130)}`)
    const seen = new Map<number, number>()
    const deliver = (slot: number, bucket: number) => seen.set(slot, bucket)
    const prefix = flagPrefix('some-flag')
    for (const [slot, id] of ids.entries())
      batch.add(prefix.words, 0, prefix.length, packIdentifier(id), VARIANT, slot, deliver)
    batch.flush(deliver)
    expect(seen.size).toBe(ids.length)
    for (const [slot, id] of ids.entries()) expect(seen.get(slot)).toBe(bucketOf(prefix, id, VARIANT))
  })

  it('is not to be had without WebAssembly', () => {
    vi.stubGlobal('WebAssembly', undefined)
    expect(openBatch(openLanes())).toBeUndefined()
    vi.stubGlobal('WebAssembly', {})
    expect(openBatch(openLanes())).toBeUndefined()
    vi.unstubAllGlobals()
  })
})

describe('utf8', () => {
  it('is what TextEncoder writes', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), units => {
        const text = String.fromCharCode(...units)
        expect([...utf8(text)]).toEqual([...new TextEncoder().encode(text)])
      }),
    )
    const ends = String.fromCharCode(0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0xd83d, 0xde00, 0xd800)
    expect([...utf8(ends)]).toEqual([...new TextEncoder().encode(ends)])
  })
})
