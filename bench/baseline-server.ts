import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A minimal `node:http` server: reads and parses the body and sends a constant response of a given size, or a 304 without a size.
 */
const bytes = Number(process.argv[2] ?? 0)
const padding = Buffer.alloc(Math.max(bytes - 12, 0), 'x')
const body = Buffer.concat([Buffer.from('{"padding":"'), padding]).subarray(0, bytes)
const headers = ['content-type', 'application/json; charset=utf-8', 'content-length', String(body.length)]
let read = 0

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (chunks.length > 0) read += Object.keys(JSON.parse(Buffer.concat(chunks).toString('utf8'))).length
    if (bytes === 0) response.writeHead(304, ['etag', '"constant"']).end()
    else response.writeHead(200, headers).end(body)
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('SIGTERM', () => process.exit(read >= 0 ? 0 : 1))
// Exits with its parent process.
process.on('disconnect', () => process.exit())
