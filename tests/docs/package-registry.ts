import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'

/** The folder of each version of each package. */
type Installed = ReadonlyMap<string, ReadonlyMap<string, string>>

/** A package registry that offers what is installed in a project, so that `npm install` works without a network. */
export async function startRegistry(project: string) {
  const installed = readInstalled(project)
  const server = createServer((request, response) => {
    const { pathname, origin } = new URL(request.url ?? '/', `http://${request.headers.host}`)
    const [name = '', version = ''] = decodeURIComponent(pathname.slice(1)).split('/-/')
    const versions = installed.get(name)
    const folder = versions?.get(version)
    if (folder) sendTarball(response, folder)
    else if (versions && version === '') sendVersions(response, name, versions, `${origin}/${name}/-/`)
    else response.writeHead(404).end('{}')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function readInstalled(project: string): Installed {
  const { packages } = JSON.parse(readFileSync(join(project, 'node_modules/.package-lock.json'), 'utf8'))
  const installed = new Map<string, Map<string, string>>()
  for (const [path, locked] of Object.entries<{ name?: string; version?: string }>(packages)) {
    // Only a package installed under another name has one here.
    const { name = path.split('node_modules/').at(-1)!, version } = locked
    if (!version || !path.includes('node_modules/')) continue
    installed.set(name, (installed.get(name) ?? new Map()).set(version, join(project, path)))
  }
  return installed
}

function sendVersions(
  response: ServerResponse,
  name: string,
  folders: ReadonlyMap<string, string>,
  tarballs: string,
): void {
  const versions = [...folders].map(([version, folder]) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return [version, { ...manifest, scripts: {}, dist: { tarball: tarballs + version } }]
  })
  // The outermost folder holds the version that the documentation is tested with.
  const latest = [...folders].sort(([, a], [, b]) => a.length - b.length)[0]?.[0]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(versions) }))
}

function sendTarball(response: ServerResponse, folder: string): void {
  const tarball = pack()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1)
    if (entry.isFile() && !name.startsWith('node_modules')) {
      tarball.entry({ name: `package/${name}`, mode: 0o755 }, readFileSync(path))
    }
  }
  tarball.finalize()
  tarball.pipe(createGzip({ level: 1 })).pipe(response)
}
