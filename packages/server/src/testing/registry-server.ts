import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ArchiveFile, makeTgz } from './archive-builder.ts'

/** A local package registry for cases that the real one cannot produce: new versions, wrong metadata and attacks. */
export interface RegistryServer {
  readonly url: string
  /** `METHOD path` of every request so far. */
  readonly requests: string[]
  /** Publishes a version, which becomes the latest. */
  publish(name: string, version: string, content: PluginFiles | Buffer, dist?: object): void
  /** Installs a custom handler for a path. */
  answer(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void
  answerJson(path: string, json: unknown): void
  close(): Promise<void>
}

/** Files by path inside the package; objects are serialized as JSON. */
export type PluginFiles = Readonly<Record<string, string | object>>

export async function startRegistryServer(): Promise<RegistryServer> {
  const handlers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>()
  const requests: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    requests.push(`${request.method} ${path}`)
    const handler = handlers.get(path) ?? handlers.get(path.split('?')[0]!)
    if (handler) handler(request, response)
    else response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}')
  })
  // A busy machine may send the next request just when an idle connection is closed.
  server.keepAliveTimeout = 0
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const registry: RegistryServer = {
    url,
    requests,
    publish(name, version, content, dist = {}) {
      const archive = Buffer.isBuffer(content) ? content : packFiles(content)
      const path = `/${name}/-/${name.split('/').pop()}-${version}.tgz`
      const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
      const release = { name, version, dist: { tarball: url + path, integrity, ...dist } }
      registry.answerJson(`/${name}/${version}`, release)
      registry.answerJson(`/${name}/latest`, release)
      registry.answer(path, (_request, response) => response.end(archive))
    },
    answer: (path, handler) => handlers.set(path, handler),
    answerJson(path, json) {
      registry.answer(path, (_request, response) => response.end(JSON.stringify(json)))
    },
    async close() {
      server.closeAllConnections()
      await new Promise(done => server.close(done))
    },
  }
  return registry
}

export function packFiles(files: PluginFiles, root = 'package'): Buffer {
  return makeTgz(archiveEntries(files, root))
}

export function archiveEntries(files: PluginFiles, root: string): ArchiveFile[] {
  return Object.entries(files).map(([path, content]) => ({
    path: `${root}/${path}`,
    content: typeof content === 'string' ? content : JSON.stringify(content),
  }))
}
