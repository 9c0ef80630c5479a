import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A minimal server that stores the body of a PATCH, syncs it to disk, sends it to everyone who follows, and responds. */
const file = openSync(process.argv[2]!, 'w')
const followers = new Set<ServerResponse>()

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
    followers.add(response)
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    writeSync(file, body, 0, body.length, 0)
    fdatasyncSync(file)
    for (const follower of followers) follower.write(`data: ${body.toString('utf8')}\n\n`)
    response.writeHead(200).end()
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('SIGTERM', () => {
  closeSync(file)
  process.exit()
})
// Exits with its parent process.
process.on('disconnect', () => process.exit())
