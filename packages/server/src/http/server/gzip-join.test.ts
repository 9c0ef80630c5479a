import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { gzipHeadBytesMax, gzipJoin, gzipRest } from './gzip-join.ts'

it('joins any head with what was compressed before into one gzip member', () => {
  const bytes = fc.uint8Array({ maxLength: 5000 }).map(list => Buffer.from(list))
  const repeated = fc.tuple(bytes, fc.nat(40)).map(([part, times]) => Buffer.concat(Array(times).fill(part)))
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 3 }), fc.oneof(bytes, repeated), (heads, rest) => {
      const gzipped = gzipRest(rest, { level: 2 })
      for (const head of heads) {
        expect(gunzipSync(gzipJoin(head, gzipped)).equals(Buffer.concat([head, rest]))).toBe(true)
      }
    }),
  )
})

it('joins the longest head with a rest of many blocks', () => {
  const head = Buffer.alloc(gzipHeadBytesMax, 'h')
  const rest = Buffer.from(Array.from({ length: 200_000 }, (_, n) => (n * n) % 251))
  expect(gunzipSync(gzipJoin(head, gzipRest(rest, {}))).equals(Buffer.concat([head, rest]))).toBe(true)
})
