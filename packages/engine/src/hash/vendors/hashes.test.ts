import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32 } from './crc32.ts'
import { fnv1a } from './fnv1a.ts'
import { md5 } from './md5.ts'
import { murmur3 } from './murmur3.ts'
import { unitsOf } from './units.ts'

const bytes = (text: string) => unitsOf(text, 'utf-8')
const hex = (digest: Uint8Array) => Buffer.from(digest).toString('hex')

describe('published test vectors', () => {
  it.each([
    ['', 0, 0],
    ['', 1, 0x514e28b7],
    ['', 0xffffffff, 0x81f16f39],
    ['test', 0, 0xba6bd213],
    ['Hello, world!', 0x9747b28c, 0x24884cba],
    ['The quick brown fox jumps over the lazy dog', 0x9747b28c, 0x2fa826cd],
  ])('MurmurHash3 of %j with seed %i', (text, seed, hash) => {
    expect(murmur3(bytes(text), seed)).toBe(hash)
  })

  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('FNV-1a of %j', (text, hash) => {
    expect(fnv1a(bytes(text))).toBe(hash)
  })

  it.each([
    ['', 0],
    ['123456789', 0xcbf43926],
  ])('CRC-32 of %j', (text, hash) => {
    expect(crc32(bytes(text))).toBe(hash)
  })

  it.each([
    ['', 'd41d8cd98f00b204e9800998ecf8427e'],
    ['abc', '900150983cd24fb0d6963f7d28e17f72'],
    ['message digest', 'f96b697d7cb7938d525a2f31aaf161d0'],
  ])('MD5 of %j', (text, digest) => {
    expect(hex(md5(bytes(text)))).toBe(digest)
  })
})

it('MD5 equals the implementation of OpenSSL', () => {
  const anyText = fc.string({ unit: 'grapheme', maxLength: 200 })
  fc.assert(
    fc.property(anyText, text => {
      expect(hex(md5(bytes(text)))).toBe(createHash('md5').update(text).digest('hex'))
    }),
  )
})

it('encodes text as the SDKs of a vendor do', () => {
  expect([...Array.from(unitsOf('aé€', 'utf-8'))]).toEqual([0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac])
  expect([...Array.from(unitsOf('aé€', 'utf-16'))]).toEqual([0x61, 0xe9, 0x20ac])
  expect([...Array.from(unitsOf('aé€', 'latin-1'))]).toEqual([0x61, 0xe9, 0xac])
})
