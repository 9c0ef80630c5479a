import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { explainFailure } from '../scripts/install.mjs'

const root = join(import.meta.dirname, '..')
const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

describe('npm start without a network', () => {
  it('says in one sentence that the registry refuses connections', async () => {
    const { status, output } = await start(await closedPort())
    expect(status).toBe(1)
    expect(output).toMatch(/^halyard: The npm registry cannot be reached \(ECONNREFUSED\)\. Check the network.*$/m)
    expect(output).not.toMatch(/npm error|^\s+at /m)
  })

  it('says in one sentence that the registry does not answer', async () => {
    const { status, output } = await start(await silentPort())
    expect(status).toBe(1)
    expect(output).toMatch(/^halyard: The npm registry cannot be reached \(\w+\)\. Check the network.*$/m)
    expect(output).not.toMatch(/npm error|^\s+at /m)
  })
})

it.each([
  ['npm error code EACCES\nnpm error syscall mkdir', /may not write here \(EACCES\)/],
  ['npm error code ENOSPC', /disk is full/],
  ['npm error code EUSAGE', /does not match package\.json/],
  ['npm error code EINTEGRITY', /does not match the lock file/],
  ['npm error code ELIFECYCLE\nnpm error errno 1', /\(ELIFECYCLE\).*npm ci/],
  ['npm error something odd', /\(something odd\).*npm ci/],
])('explains %j', (output, sentence) => {
  expect(explainFailure(output)).toMatch(sentence)
})

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
/** These need nothing but Node; `build` is what a deployment calls after its own installation. */
const withoutPackages = ['sbom', 'build']

it.each(Object.keys(scripts).filter(name => !withoutPackages.includes(name)))(
  'npm run %s installs what it needs first',
  async name => {
    const { status, output } = await start(await closedPort(), ['npm', 'run', name])
    expect(status).toBe(1)
    expect(output).toMatch(/^halyard: The npm registry cannot be reached/m)
    expect(output).not.toMatch(/^\s+at /m)
  },
)

/** A checkout without `node_modules` and an empty npm cache, so that only the registry could provide the packages. */
async function start(
  port: number,
  [program, ...args]: readonly string[] = [process.execPath, 'scripts/start.mjs'],
): Promise<{ status: number | null; output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-install-'))
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['scripts', 'bench']) cpSync(join(root, name), join(folder, name), { recursive: true })
  for (const name of readdirSync(join(root, 'packages'))) {
    cpSync(join(root, 'packages', name, 'package.json'), join(folder, 'packages', name, 'package.json'))
  }
  for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
    writeFileSync(join(folder, name), readFileSync(join(root, name)))
  }
  const child = spawn(program!, args, {
    cwd: folder,
    env: {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_cache: join(folder, '.cache'),
    },
  })
  let output = ''
  child.stdout.on('data', text => (output += text))
  child.stderr.on('data', text => (output += text))
  const status = await new Promise<number | null>(resolve => child.on('close', resolve))
  return { status, output }
}

async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Accepts connections and never sends a byte. */
async function silentPort(): Promise<number> {
  const server = createServer(socket => cleanUps.push(() => socket.destroy()))
  cleanUps.push(() => server.close())
  return listen(server)
}

function listen(server: Server): Promise<number> {
  return new Promise(resolve =>
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    }),
  )
}
