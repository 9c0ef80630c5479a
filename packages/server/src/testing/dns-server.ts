import { createSocket } from 'node:dgram'

/** A DNS server on loopback that knows TXT records only. */
export interface DnsServer {
  /** As `HALYARD_DNS_SERVERS` takes it. */
  readonly address: string
  /** By name in lower case; others do not exist. A record has several parts where it is longer than 255 bytes. */
  readonly records: Map<string, readonly (readonly string[])[]>
  close(): Promise<void>
}

const headerBytes = 12
const textType = 16
const internetClass = 1
const ttlSeconds = 60

export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const records: DnsServer['records'] = new Map()
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query)
    const question = query.subarray(headerBytes, end + 4)
    const texts = query.readUInt16BE(end) === textType ? records.get(name.toLowerCase()) : undefined
    const header = Buffer.alloc(headerBytes)
    query.copy(header, 0, 0, 2)
    // A response to a recursive query, without error or with NXDOMAIN.
    header.writeUInt16BE(texts ? 0x8180 : 0x8183, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(texts?.length ?? 0, 6)
    socket.send(Buffer.concat([header, question, ...(texts ?? []).map(answerOf)]), port, address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    records,
    close: () => new Promise(resolve => socket.close(() => resolve())),
  }
}

/** The name of the first question, and where it ends. */
function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = headerBytes
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.'), end: at + 1 }
}

function answerOf(parts: readonly string[]): Buffer {
  const data = Buffer.concat(parts.flatMap(part => [Buffer.from([part.length]), Buffer.from(part, 'latin1')]))
  const answer = Buffer.alloc(12)
  // The name is the one of the question, at offset 12.
  answer.writeUInt16BE(0xc00c, 0)
  answer.writeUInt16BE(textType, 2)
  answer.writeUInt16BE(internetClass, 4)
  answer.writeUInt32BE(ttlSeconds, 6)
  answer.writeUInt16BE(data.length, 10)
  return Buffer.concat([answer, data])
}
