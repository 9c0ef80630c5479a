import { expect, it } from 'vitest'
import { bodyIn, createHeadWriter, responseHead } from './fast-response.ts'
import { createResponseBatch } from './response-batch.ts'

const memory = createResponseBatch()
const writeHead = createHeadWriter()
const found = responseHead(200, { 'x-first': 'one', 'x-second': 'two' })
const unchanged = responseHead(304, { etag: '"e"' })

it.each([0, 9, 10, 12_345, 1_000_000])('writes request id and length in front of a body of %i bytes', length => {
  const body = Buffer.alloc(length, 'b')
  const written = writeHead({ head: found, requestId: 'some-id', ...bodyIn(memory, body) }, 65_999)
  const [head, ...rest] = written.toString('latin1').split('\r\n\r\n')
  expect(rest).toEqual([body.toString('latin1')])
  const date = expect.stringMatching(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/)
  expect(head!.split('\r\n')).toEqual([
    ...['HTTP/1.1 200 OK', 'x-first: one', 'x-second: two'],
    ...[date, 'Connection: keep-alive', 'Keep-Alive: timeout=65', 'x-request-id: some-id'],
    ...[`content-length: ${length}`],
  ])
})

it('distinguishes heads that alternate', () => {
  for (const head of [found, unchanged, found, unchanged]) {
    const written = writeHead({ head, requestId: 'some-id', ...bodyIn(memory, Buffer.alloc(0)) }, 65_000).toString(
      'latin1',
    )
    expect(written.startsWith(head.text)).toBe(true)
    expect(written.includes('content-length')).toBe(head.hasBody)
    expect(written.endsWith('\r\n\r\n')).toBe(true)
    expect(written.match(/x-request-id: some-id\r\n/g)).toHaveLength(1)
  }
})
