import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { bucketInPlainJavaScript, bucketOf, flagPrefix, unitOf } from './bucket.ts'
import { blockCount, PLAIN, type Salt, saltBytes, VARIANT } from './bucket-text.ts'
import { giveGathering, takeGathering } from './gathering.ts'
import { identifierWords, PackedIdentifier } from './packed-identifier.ts'
import { aloneModule, openAlone } from './sha1-alone.ts'
import { beginningWords, freeStart, joinMax, lanesModule, memoryWords, messagesStart, openLanes } from './sha1-lanes.ts'
import { utf8 } from './utf8.ts'

function reference(text: string): number {
  const digest = createHash('sha1').update(text, 'utf8').digest('hex')
  return Number.parseInt(digest.slice(0, 15), 16) / 2 ** 60
}

const key = fc.string({ unit: 'binary', maxLength: 80 })
const identifier = fc.string({ unit: 'binary', maxLength: 200 })

describe('a bucket', () => {
  it('is what the digest of the text gives, of any length', () => {
    fc.assert(
      fc.property(key, identifier, (flagKey, id) => {
        const { words, length } = flagPrefix(flagKey)
        expect(bucketOf({ words, length }, id, PLAIN)).toBe(reference(`${flagKey}.${id}`))
        expect(bucketOf({ words, length }, id, VARIANT)).toBe(reference(`${flagKey}.${id}variant`))
        expect(bucketInPlainJavaScript(words, 0, length, id, PLAIN)).toBe(reference(`${flagKey}.${id}`))
        expect(bucketInPlainJavaScript(words, 0, length, id, VARIANT)).toBe(reference(`${flagKey}.${id}variant`))
      }),
    )
    for (let length = 0; length < 1100; length++) {
      const id = 'x'.repeat(length)
      expect(bucketOf(flagPrefix('key'), id, PLAIN)).toBe(reference(`key.${id}`))
      if (length < 400) expect(bucketOf(flagPrefix('kéy'), `${id}é日`, VARIANT)).toBe(reference(`kéy.${id}é日variant`))
    }
  })
})

describe('four lanes', () => {
  it('come in a module that browsers compile at once', () => {
    expect(lanesModule().length).toBeLessThan(4096)
    expect(aloneModule().length).toBeLessThan(4096)
  })

  it('give what plain JavaScript gives, however many messages there are', () => {
    const lanes = openLanes()!
    const packed = new PackedIdentifier(lanes.memory, freeStart)
    const list = freeStart + identifierWords
    const results = list + joinMax
    const beginnings = results + joinMax * 2
    const keys = fc.array(key, { minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(
        keys,
        identifier,
        fc.constantFrom(1, 2),
        fc.constantFrom<Salt>(PLAIN, VARIANT),
        (some, id, blocks, salt) => {
          packed.open(id)
          const rest = packed.length + saltBytes[salt].length
          const prefixes = some.map(flagPrefix).filter(({ length }) => blockCount(length + rest) === blocks)
          if (prefixes.length === 0) return
          let words = prefixes.length * beginningWords
          for (const [place, prefix] of prefixes.entries()) {
            lanes.memory.set([words * 4, prefix.length], beginnings + place * beginningWords)
            lanes.memory.set(prefix.words, beginnings + words)
            words += prefix.words.length
            // They need not come in the order of the table.
            lanes.memory[list + prefixes.length - 1 - place] = place
          }
          lanes.join(list, prefixes.length, blocks, beginnings, packed.tails(salt), rest)
          lanes.hash(messagesStart, prefixes.length, blocks, results)
          for (const [place, prefix] of prefixes.toReversed().entries()) {
            const at = results + (place & ~3) * 2 + (place & 3)
            const bucket = unitOf(lanes.memory[at]!, lanes.memory[at + 4]!)
            expect(bucket).toBe(bucketInPlainJavaScript(prefix.words, 0, prefix.length, id, salt))
          }
        },
      ),
    )
  })

  it('are not to be had without WebAssembly', () => {
    vi.stubGlobal('WebAssembly', undefined)
    expect([openLanes(), openAlone()]).toEqual([undefined, undefined])
    vi.stubGlobal('WebAssembly', {})
    expect([openLanes(), openAlone()]).toEqual([undefined, undefined])
    vi.unstubAllGlobals()
  })
})

describe('gathering', () => {
  it('is done by one evaluation at a time, within what memory there is', () => {
    const gathering = takeGathering()!
    expect(gathering.end).toBeLessThanOrEqual(memoryWords)
    expect(takeGathering()).toBeUndefined()
    giveGathering(gathering)
    expect(takeGathering()).toBe(gathering)
    giveGathering(gathering)
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
