// ClickHouse's engine of today from the npm package chdb, behind as much of its HTTP interface as Halyard uses.
// Arguments: the folder of the package, the folder for data, the port.
import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const [library, data, port] = process.argv.slice(2)
const { Session } = createRequire(import.meta.url)(library)
const session = new Session(data)

createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString('utf8')
  const statement = new URL(request.url, 'http://chdb').searchParams.get('query')
  try {
    response.end(session.query(statement === null ? body : `${statement}\n${body}`, 'JSONCompact'))
  } catch (error) {
    response.writeHead(500).end(String(error.message))
  }
}).listen(Number(port), '127.0.0.1')
