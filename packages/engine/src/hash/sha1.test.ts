import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { openWalk } from '../evaluate/flag-walk.ts'
import { bucketInPlainJavaScript, bucketOf, flagPrefix, unitOf } from './bucket.ts'
import { blockCount, PLAIN, type Salt, saltBytes, VARIANT } from './bucket-message.ts'
import { identifierWords, PackedIdentifier } from './packed-identifier.ts'
import { openAlone } from './sha1-scalar.ts'
import { freeStart, hashFunction, joinFunction, joinMax, messagesStart } from './sha1-simd.ts'
import { utf8 } from './utf8.ts'
import { assembleModule, openModule } from './wasm-assembler.ts'

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
        const prefix = flagPrefix(flagKey)
        expect(bucketOf(prefix, id, PLAIN)).toBe(reference(`${flagKey}.${id}`))
        expect(bucketOf(prefix, id, VARIANT)).toBe(reference(`${flagKey}.${id}variant`))
        expect(bucketInPlainJavaScript(prefix, id, PLAIN)).toBe(reference(`${flagKey}.${id}`))
        expect(bucketInPlainJavaScript(prefix, id, VARIANT)).toBe(reference(`${flagKey}.${id}variant`))
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
  it('give what plain JavaScript gives, however many messages there are', () => {
    const { memory, programs } = openModule(assembleModule({ functions: [joinFunction, hashFunction], pages: 1 }))!
    const packed = new PackedIdentifier(memory, freeStart)
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
          let free = beginnings
          for (const [place, prefix] of prefixes.entries()) {
            // They need not come in the order in which they lie.
            memory[list + prefixes.length - 1 - place] = free * 4
            memory.set([8, prefix.length, ...prefix.words], free)
            free += 2 + prefix.words.length
          }
          programs.join!(list * 4, prefixes.length, blocks * 64, packed.placeOf(salt) * 4, rest)
          programs.hash!(messagesStart * 4, (prefixes.length + 3) >> 2, blocks, results * 4)
          for (const [place, prefix] of prefixes.toReversed().entries()) {
            const at = results + (place & ~3) * 2 + (place & 3)
            const bucket = unitOf(memory[at]!, memory[at + 4]!)
            expect(bucket).toBe(bucketInPlainJavaScript(prefix, id, salt))
          }
        },
      ),
    )
  })

  it('are not to be had without WebAssembly', () => {
    vi.stubGlobal('WebAssembly', undefined)
    expect([openWalk(() => 0), openAlone()]).toEqual([undefined, undefined])
    vi.stubGlobal('WebAssembly', {})
    expect([openWalk(() => 0), openAlone()]).toEqual([undefined, undefined])
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
