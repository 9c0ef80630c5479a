import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readSdkBody } from '../http/sdk-body/sdk-body.ts'
import { createBodyMemoryBudget } from '../overload/body-memory-budget.ts'
import { readBodySync, syncBodyBytesMax } from './read-body-sync.ts'

const room = createBodyMemoryBudget(1_000_000)

/** Ways to pack a text, of which clients use some alone or one after another. */
const steps: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: bytes => gzipSync(bytes),
  base64: bytes => Buffer.from(bytes.toString('base64')),
  base64url: bytes => Buffer.from(bytes.toString('base64url')),
  form: bytes => Buffer.from(`data=${encodeURIComponent(bytes.toString('utf8'))}`),
  'careless form': bytes => Buffer.concat([Buffer.from('data='), bytes]),
  'longer form': bytes => Buffer.concat([Buffer.from('ip=0&data='), bytes, Buffer.from('&ver=1')]),
  blank: bytes => Buffer.concat([Buffer.from(' '), bytes]),
  cut: bytes => bytes.subarray(0, -1),
}

const bodies = fc.oneof(
  fc.dictionary(fc.string(), fc.jsonValue()).map(value => JSON.stringify(value)),
  fc.jsonValue().map(value => JSON.stringify(value)),
  fc.constantFrom('{"a":NaN}', '{"a":"&data=e30="}', '\ufeff{}', '{"__proto__":1}', '', '{'),
)
const said = fc.record({
  contentType: fc.constantFrom(undefined, 'application/json', 'text/plain', 'application/x-www-form-urlencoded'),
  contentEncoding: fc.constantFrom(undefined, 'gzip', 'identity'),
  compression: fc.constantFrom(undefined, 'gzip-js', 'base64', 'lz64'),
})

it('reads nothing otherwise than the patient reader', async () => {
  let read = 0
  await fc.assert(
    fc.asyncProperty(
      bodies,
      fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 3 }),
      said,
      async (text, names, about) => {
        const bytes = names.reduce<Buffer>((packed, name) => steps[name]!(packed), Buffer.from(text))
        const within = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('after')])
        const quick = readBodySync(within, 6, 6 + bytes.length, about)
        if (quick === undefined) return
        read += 1
        const place = room.enter(() => {})
        expect(quick).toEqual(await readSdkBody({ bytes, ...about }, { unpack: room.unpack, take: place.take }))
        place.leave()
      },
    ),
    { numRuns: 3000 },
  )
  expect(read).toBeGreaterThan(100)
})

it('leaves alone what unpacks to more than it may', () => {
  const large = JSON.stringify({ text: 'x'.repeat(syncBodyBytesMax) })
  const packed = gzipSync(large)
  expect(packed.length).toBeLessThan(1000)
  expect(readBodySync(packed, 0, packed.length, {})).toBeUndefined()
})
