import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const source = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const useClient = `
  import { createGuardedClient } from ${JSON.stringify(source('./guarded-client.ts'))}
  const client = createGuardedClient({ trustedOrigins: [process.argv[2]] })
  client.request({ url: process.argv[2], timeoutMsMax: 5000, answerBytesMax: 100 }).then(answer => {
    console.log(answer.status, answer.body.toString())
    return client.close()
  })`

test('the client works in a bundle as the server is built', async () => {
  const server = createServer((_request, response) => response.end('hello'))
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const parent = source('../../node_modules')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, '.bundle-test-'))
  try {
    await build({
      stdin: { contents: useClient, resolveDir: folder, sourcefile: 'entry.ts' },
      outfile: join(folder, 'entry.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      external: ['undici'],
      supported: { 'dynamic-import': false },
    })
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'entry.cjs'), address])
    expect(stdout).toBe('200 hello\n')
  } finally {
    server.close()
    await rm(folder, { recursive: true })
  }
})
