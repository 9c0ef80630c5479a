import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Problem } from '../../problem.ts'
import { eventBodyBytesMax, readSdkBody, readSdkBodySync, type SdkBody, type SdkBodyMemory } from './sdk-body.ts'

const value = { token: 'phc_x', text: 'ünïcode 🦔 + / =', nested: { list: [1, null, 'NaN'] } }
const json = JSON.stringify(value)
const base64 = Buffer.from(json).toString('base64')
const form = 'application/x-www-form-urlencoded'

let inflates = 0
const memory: SdkBodyMemory = {
  inflate(work) {
    inflates += 1
    return work()
  },
  countInflate() {
    inflates += 1
  },
  grow() {},
  isGone: () => false,
}

const read = (bytes: Buffer | string, more: Omit<SdkBody, 'bytes'> = {}, max = eventBodyBytesMax) =>
  readSdkBody({ bytes: Buffer.from(bytes), ...more }, memory, max)
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no problem',
    error => (error instanceof Problem ? error.kind : `not a Problem: ${error}`),
  )

/** The size that gzip declares in its last four bytes, falsified. */
function undeclared(packed: Buffer): Buffer {
  packed.writeUInt32LE(100, packed.length - 4)
  return packed
}

describe('bodies of SDKs', () => {
  it.each<[string, Buffer | string, Omit<SdkBody, 'bytes'>?]>([
    ['plain JSON', json, { contentType: 'application/json' }],
    ['JSON as text', json, { contentType: 'text/plain' }],
    ['JSON without a type', json],
    ['JSON with a byte order mark', `\ufeff${json}`],
    ['gzip that says so', gzipSync(json), { contentEncoding: 'gzip' }],
    ['gzip in the address', gzipSync(json), { compression: 'gzip-js', contentType: 'text/plain' }],
    ['gzip that says nothing', gzipSync(json), { contentType: 'text/plain' }],
    ['gzip that a proxy has already unpacked', json, { contentEncoding: 'gzip', compression: 'gzip-js' }],
    ['deflate', deflateSync(json), { contentEncoding: 'deflate' }],
    ['brotli', brotliCompressSync(json), { contentEncoding: 'br' }],
    ['a base64 form', `data=${encodeURIComponent(base64)}`, { contentType: form, compression: 'base64' }],
    ['a base64 form whose plus signs became blanks', `data=${base64}`, { contentType: form }],
    ['a form with other fields before it', `ip=1&data=${encodeURIComponent(base64)}&x=y`, { contentType: form }],
    ['a form that holds plain JSON', `data=${encodeURIComponent(json)}`, { contentType: form }],
    ['a form without its field name', base64, { contentType: form }],
    ['a form sent as text', `data=${encodeURIComponent(base64)}`, { contentType: 'text/plain' }],
    ['base64 in the address', base64, { compression: 'base64', contentType: 'text/plain' }],
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
    ['gzip in gzip', gzipSync(gzipSync(json)), { contentEncoding: 'gzip', compression: 'gzip' }],
    ['gzip in brotli', brotliCompressSync(gzipSync(json)), { contentEncoding: 'br' }],
    ['gzip in base64 in gzip', gzipSync(gzipSync(json).toString('base64')), { compression: 'base64' }],
    ['gzip in gzip in base64', gzipSync(gzipSync(json)).toString('base64'), { compression: 'base64' }],
    ['base64 that no header or parameter declares', base64],
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
    ['a bomb in base64', `data=${gzipSync(Buffer.alloc(3_000_000)).toString('base64')}`],
    ['a bomb that declares a small size', undeclared(gzipSync(Buffer.alloc(3_000_000)))],
  ])('refuses %s without inflating it all', async (_name, bytes) => {
    expect(await kindOf(read(bytes, {}, 1_000_000))).toBe('too_large')
  })

  it('inflates at most once, whatever is nested', async () => {
    const text = Buffer.alloc(19 * 1024 * 1024, 'a')
    for (const bytes of [gzipSync(gzipSync(gzipSync(text))), gzipSync(gzipSync(text)), gzipSync(text)]) {
      inflates = 0
      expect(['unparsable', 'too_large']).toContain(await kindOf(read(bytes, {}, 1024 * 1024)))
      expect(inflates).toBeLessThanOrEqual(1)
    }
  })

  it('stops before and after inflating when the client is gone', async () => {
    const large = Buffer.from(gzipSync(JSON.stringify({ text: Array.from({ length: 9000 }, Math.random).join() })))
    inflates = 0
    const gone: SdkBodyMemory = { ...memory, isGone: () => true }
    await expect(readSdkBody({ bytes: large }, gone, eventBodyBytesMax)).rejects.toThrow(/closed the connection/)
    expect(inflates).toBe(0)
    const leaving: SdkBodyMemory = { ...memory, isGone: () => inflates > 0 }
    await expect(readSdkBody({ bytes: large }, leaving, eventBodyBytesMax)).rejects.toThrow(/closed the connection/)
    expect(inflates).toBe(1)
  })

  it('refuses a bomb in any other encoding', async () => {
    const zeros = Buffer.alloc(3_000_000)
    expect(await kindOf(read(brotliCompressSync(zeros), { contentEncoding: 'br' }, 1_000_000))).toBe('too_large')
    expect(await kindOf(read(deflateSync(zeros), { contentEncoding: 'deflate' }, 1_000_000))).toBe('too_large')
  })
})

/** Ways to encode a text, of which clients use some alone or one after another. */
const steps: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: bytes => gzipSync(bytes),
  base64: bytes => Buffer.from(bytes.toString('base64')),
  base64url: bytes => Buffer.from(bytes.toString('base64url')),
  form: bytes => Buffer.from(`data=${encodeURIComponent(bytes.toString('utf8'))}`),
  'unescaped form': bytes => Buffer.concat([Buffer.from('data='), bytes]),
  'longer form': bytes => Buffer.concat([Buffer.from('ip=0&data='), bytes, Buffer.from('&ver=1')]),
  space: bytes => Buffer.concat([Buffer.from(' '), bytes]),
  cut: bytes => bytes.subarray(0, -1),
}

const bodies = fc.oneof(
  fc.dictionary(fc.string(), fc.jsonValue()).map(object => JSON.stringify(object)),
  fc.jsonValue().map(any => JSON.stringify(any)),
  fc.constantFrom('{"a":NaN}', '{"a":"&data=e30="}', '\ufeff{}', '{"__proto__":1}', '', '{'),
)
const declarations = fc.record({
  contentType: fc.constantFrom(undefined, 'application/json', 'text/plain', form),
  contentEncoding: fc.constantFrom(undefined, 'gzip', 'identity'),
  compression: fc.constantFrom(undefined, 'gzip-js', 'base64', 'lz64'),
})

describe('the synchronous attempt', () => {
  it('reads what the asynchronous reader reads, raises what it raises, or leaves the body to it', async () => {
    let readCount = 0
    await fc.assert(
      fc.asyncProperty(
        bodies,
        fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 3 }),
        declarations,
        async (text, names, declared) => {
          const bytes = names.reduce<Buffer>((encoded, name) => steps[name]!(encoded), Buffer.from(text))
          const [sync, full] = await Promise.allSettled([
            (async () => readSdkBodySync({ bytes, ...declared }, () => {}))(),
            read(bytes, declared),
          ])
          if (sync.status === 'fulfilled' && sync.value === undefined) return
          readCount += 1
          expect(sync).toEqual(full)
        },
      ),
      { numRuns: 3000 },
    )
    expect(readCount).toBeGreaterThan(100)
  })

  it('leaves bodies alone that inflate to more than it may', () => {
    const packed = gzipSync(JSON.stringify({ text: 'x'.repeat(64 * 1024) }))
    expect(packed.length).toBeLessThan(1000)
    let count = 0
    expect(readSdkBodySync({ bytes: packed }, () => count++)).toBeUndefined()
    expect(count).toBe(0)
  })
})
