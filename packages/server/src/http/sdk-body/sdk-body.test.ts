import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Problem } from '../../problem.ts'
import { readSdkBody, type SdkBody } from './sdk-body.ts'

const value = { token: 'phc_x', text: 'ünïcode 🦔 + / =', nested: { list: [1, null, 'NaN'] } }
const json = JSON.stringify(value)
const base64 = Buffer.from(json).toString('base64')
const form = 'application/x-www-form-urlencoded'

const read = (bytes: Buffer | string, more: Omit<SdkBody, 'bytes'> = {}, max?: number) =>
  readSdkBody({ bytes: Buffer.from(bytes), ...more }, { unpack: work => work(), take: () => {} }, max)
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no problem',
    error => (error instanceof Problem ? error.kind : `not a Problem: ${error}`),
  )

describe('bodies of client libraries', () => {
  it.each<[string, Buffer | string, Omit<SdkBody, 'bytes'>?]>([
    ['plain JSON', json, { contentType: 'application/json' }],
    ['JSON as text', json, { contentType: 'text/plain' }],
    ['JSON without a type', json],
    ['JSON with a byte order mark', `\ufeff${json}`],
    ['gzip that says so', gzipSync(json), { contentEncoding: 'gzip' }],
    ['gzip in the address', gzipSync(json), { compression: 'gzip-js', contentType: 'text/plain' }],
    ['gzip that says nothing', gzipSync(json), { contentType: 'text/plain' }],
    ['gzip that a proxy has already unpacked', json, { contentEncoding: 'gzip', compression: 'gzip-js' }],
    ['gzip in gzip', gzipSync(gzipSync(json)), { contentEncoding: 'gzip', compression: 'gzip' }],
    ['deflate', deflateSync(json), { contentEncoding: 'deflate' }],
    ['brotli', brotliCompressSync(json), { contentEncoding: 'br' }],
    ['a base64 form', `data=${encodeURIComponent(base64)}`, { contentType: form, compression: 'base64' }],
    ['a base64 form whose plus signs became blanks', `data=${base64}`, { contentType: form }],
    ['a form with other fields before it', `ip=1&data=${encodeURIComponent(base64)}&x=y`, { contentType: form }],
    ['a form that holds plain JSON', `data=${encodeURIComponent(json)}`, { contentType: form }],
    ['a form without its field name', base64, { contentType: form }],
    ['a form sent as text', `data=${encodeURIComponent(base64)}`, { contentType: 'text/plain' }],
    ['base64 and nothing else', base64],
    ['base64 of gzip', gzipSync(json).toString('base64'), { compression: 'base64' }],
    ['JSON that claims to be base64', json, { compression: 'base64' }],
  ])('reads %s', async (_name, bytes, more) => {
    expect(await read(bytes, more)).toEqual(value)
  })

  it('reads numbers that JSON does not have as null, and leaves texts alone', async () => {
    expect(await read('{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \\" Infinity","d":1}')).toEqual({
      a: null,
      b: [null, null],
      c: 'NaN " Infinity',
      d: 1,
    })
  })

  it('reads back any JSON value in any encoding', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async text => {
        const expected = JSON.parse(text)
        expect(await read(text)).toEqual(expected)
        expect(await read(gzipSync(text))).toEqual(expected)
        expect(await read(`data=${encodeURIComponent(Buffer.from(text).toString('base64'))}`)).toEqual(expected)
      }),
    )
  })

  it.each<[string, Buffer | string, Omit<SdkBody, 'bytes'>?]>([
    ['nothing', ''],
    ['half a JSON', json.slice(0, -5)],
    ['damaged gzip', gzipSync(json).subarray(0, 30)],
    ['gzip of something else', gzipSync('hello')],
    ['base64 of something else', Buffer.from('hello').toString('base64')],
    ['bytes', Buffer.from([0, 255, 254, 1, 2])],
    ['an empty form', 'data=', { contentType: form }],
    ['damaged brotli', 'hello', { contentEncoding: 'br' }],
    ['gzip in gzip in gzip in gzip', gzipSync(gzipSync(gzipSync(gzipSync(json))))],
    ['a very deep value', `${'['.repeat(5000)}${']'.repeat(5000)}`],
  ])('refuses %s', async (_name, bytes, more) => {
    expect(await kindOf(read(bytes, more))).toBe('unparsable')
  })

  it('refuses what it does not understand', async () => {
    expect(await kindOf(read(json, { contentEncoding: 'zstd' }))).toBe('unsupported_media')
    expect(await kindOf(read('N4IgbghgTg', { compression: 'lz64' }))).toBe('unsupported_media')
  })

  it('never throws anything but a Problem, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom('', 'br', 'deflate', 'gzip'),
        async (bytes, contentEncoding) => {
          expect(await kindOf(read(Buffer.from(bytes), { contentEncoding }))).not.toMatch('not a Problem')
          expect(await kindOf(read(Buffer.from([0x1f, 0x8b, ...bytes])))).not.toMatch('not a Problem')
        },
      ),
    )
  })

  it.each([
    ['a small bomb', gzipSync(Buffer.alloc(3_000_000))],
    ['a large bomb', gzipSync(Buffer.alloc(30_000_000))],
    ['a bomb in base64', gzipSync(Buffer.alloc(3_000_000)).toString('base64')],
    ['a bomb in a bomb', gzipSync(gzipSync(Buffer.alloc(3_000_000)))],
  ])('refuses %s without unpacking it all', async (_name, bytes) => {
    expect(await kindOf(read(bytes, {}, 1_000_000))).toBe('too_large')
  })

  it('refuses a bomb in any other encoding', async () => {
    const zeros = Buffer.alloc(3_000_000)
    expect(await kindOf(read(brotliCompressSync(zeros), { contentEncoding: 'br' }, 1_000_000))).toBe('too_large')
    expect(await kindOf(read(deflateSync(zeros), { contentEncoding: 'deflate' }, 1_000_000))).toBe('too_large')
  })
})
