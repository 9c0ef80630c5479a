import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { bucketOf, flagPrefix } from './bucket.ts'
import { hashAll } from './hash-all.ts'
import { HashBatch } from './hash-batch.ts'
import { ROLLOUT_SALT, type Salt, VARIANT_SALT } from './message.ts'
import { openKernel } from './sha1-kernel.ts'
import { simdKernel } from './sha1-kernels.generated.ts'
import { utf8 } from './utf8.ts'

function reference(text: string): number {
  const digest = createHash('sha1').update(text, 'utf8').digest('hex')
  return Number.parseInt(digest.slice(0, 15), 16) / 2 ** 60
}

const key = fc.string({ unit: 'binary', maxLength: 80 })
const identifier = fc.string({ unit: 'binary', maxLength: 200 })

describe('bucketOf', () => {
  it('equals the SHA-1 digest of node:crypto, for messages of any length', () => {
    fc.assert(
      fc.property(key, identifier, (flagKey, id) => {
        const prefix = flagPrefix(flagKey)
        expect(bucketOf(prefix, id, ROLLOUT_SALT)).toBe(reference(`${flagKey}.${id}`))
        expect(bucketOf(prefix, id, VARIANT_SALT)).toBe(reference(`${flagKey}.${id}variant`))
      }),
    )
    for (let length = 0; length < 1100; length++) {
      const id = 'x'.repeat(length)
      expect(bucketOf(flagPrefix('key'), id, ROLLOUT_SALT)).toBe(reference(`key.${id}`))
      if (length < 400)
        expect(bucketOf(flagPrefix('kéy'), `${id}é日`, VARIANT_SALT)).toBe(reference(`kéy.${id}é日variant`))
    }
  })
})

describe('hashAll', () => {
  const keys = fc.array(fc.oneof(key, fc.string({ maxLength: 20 })), { minLength: 1, maxLength: 150 })

  it('writes the bucket of each prefix to its position, for prefixes and identifiers of any length', () => {
    fc.assert(
      fc.property(keys, identifier, fc.constantFrom<Salt>(ROLLOUT_SALT, VARIANT_SALT), (some, id, salt) => {
        const prefixes = some.map(flagPrefix)
        const positions = some.map((_, index) => some.length * 2 - 1 - index)
        const batch = new HashBatch(prefixes.map((prefix, index) => ({ prefix, position: positions[index]! })))
        const buckets = new Float64Array(some.length * 2).fill(Number.NaN)
        hashAll(batch, id, salt, buckets)
        const expected = prefixes.map(prefix => bucketOf(prefix, id, salt)).toReversed()
        expect([...buckets]).toEqual([...some.map(() => Number.NaN), ...expected])
      }),
    )
  })

  it('is exact at every length around the ends of blocks', () => {
    for (let prefixLength = 1; prefixLength < 70; prefixLength++) {
      const prefixes = Array.from({ length: 3 }, (_, index) => flagPrefix('k'.repeat(prefixLength - 1 + index)))
      for (const idLength of [0, 1, 36, 43, 44, 45, 46, 47, 48, 100, 110, 118, 119, 120, 127]) {
        const id = 'i'.repeat(idLength)
        const buckets = new Float64Array(3)
        hashAll(new HashBatch(prefixes.map((prefix, position) => ({ prefix, position }))), id, VARIANT_SALT, buckets)
        expect([...buckets]).toEqual(prefixes.map(prefix => bucketOf(prefix, id, VARIANT_SALT)))
      }
    }
  })
})

describe('the WebAssembly kernel', () => {
  it('is what its WebAssembly text assembles to', () => {
    const script = fileURLToPath(new URL('../../../../scripts/build-wasm.mjs', import.meta.url))
    const path = 'packages/engine/src/hash/sha1-kernels.generated.ts'
    const assembled = execFileSync(process.execPath, [script, '--print', path], { encoding: 'utf8' })
    expect(readFileSync(new URL('sha1-kernels.generated.ts', import.meta.url), 'utf8')).toBe(assembled)
  })

  it('is not opened where WebAssembly is missing, forbidden or incomplete', () => {
    const forbidden = {
      Module: class {
        constructor() {
          throw new Error('Wasm code generation disallowed by embedder')
        }
      },
    }
    for (const wasm of [undefined, {}, forbidden]) {
      vi.stubGlobal('WebAssembly', wasm)
      expect(openKernel(simdKernel)).toBeUndefined()
    }
    vi.unstubAllGlobals()
    expect(openKernel(simdKernel)).toBeDefined()
  })
})

describe('utf8', () => {
  it('equals the output of TextEncoder', () => {
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
