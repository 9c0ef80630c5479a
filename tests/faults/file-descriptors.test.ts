import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, dialects, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { type RegistryServer, startRegistryServer } from '../../packages/server/src/testing/registry-server.ts'
import { visitServer } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, root, type ServerProcess, startServer } from './server-process.ts'

/** Node itself needs about 30; the rest is for clients. */
const descriptorsMax = 120
const connectionsMax = 4 * descriptorsMax

/** A program that runs Node with few file descriptors. */
function writeLimitedNode(folder: string): string {
  const path = join(folder, 'limited-node')
  writeFileSync(path, `#!/bin/sh\nulimit -n ${descriptorsMax}\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 })
  return path
}

/** Connects without sending anything until the server closes new connections, as it does when it cannot accept one. */
async function exhaust(server: ServerProcess): Promise<readonly Socket[]> {
  const sockets: Socket[] = []
  let refused = 0
  while (refused === 0) {
    expect(sockets.length).toBeLessThan(connectionsMax)
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.on('close', () => {
      refused += 1
    })
    sockets.push(socket)
    await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  }
  return sockets
}

type Send = (method: string, path: string, body?: unknown) => Promise<number>

/** Sends requests on one connection from before while there are no descriptors. Returns when new connections are served again. */
async function withoutDescriptors(server: ServerProcess, use: (send: Send) => Promise<void>): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }
  const send: Send = (method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request(server.url + path, { method, agent, headers }, response => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  expect(await send('GET', '/_livez')).toBe(200)
  const sockets = await exhaust(server)
  try {
    await use(send)
  } finally {
    agent.destroy()
    for (const socket of sockets) socket.destroy()
  }
  await expect.poll(() => fetch(`${server.url}/_readyz`).then(({ status }) => status, String)).toBe(200)
}

const guide = readFileSync(join(root, 'docs/migrate/launchdarkly.md'), 'utf8')
const launchDarkly: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(guide)![1]!)

const source = (name: string) => ({
  'plugin.json': JSON.stringify({ name }),
  'index.ts': 'export const processEvent = (event: any) => ({ ...event, $set: { marked: true } })',
})

describe.skipIf(process.platform === 'win32').each(dialects)('a server on %s without file descriptors', dialect => {
  let folder: string
  let registry: RegistryServer
  let database: TestDatabase
  let server: ServerProcess
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'halyard-descriptors-'))
    registry = await startRegistryServer()
    registry.publish('@test/marker', '1.0.0', source('Marker'))
    database = await createTestDatabase(dialect)
    const environment = { HALYARD_NPM_REGISTRY: registry.url, HALYARD_LAG_MILLISECONDS_MAX: '0' }
    server = await startServer(database.url, environment, writeLimitedNode(folder))
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
    await registry?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('evaluates on the connections that it has, and does everything again afterwards', async () => {
    const s = await visitServer(server.url, ownerKey)
    const flags = `${s.project}/feature_flags/`
    const plugins = `${s.organization}/plugins/`
    const evaluation = { token: s.projectToken, distinct_id: 'ada' }
    const events = { api_key: s.projectToken, batch: [{ event: 'visited', distinct_id: 'visitor', properties: {} }] }
    const address = { url: 'https://www.npmjs.com/package/@test/marker' }
    const imported = { source: 'launchdarkly', content: launchDarkly, mapping: [{ project: s.projectId }] }
    expect((await s.post(flags, { key: 'before' })).status).toBe(201)
    const { body: plugin } = await s.post(plugins, {})

    // Compiler, import and API are used for the first time, and must not stay broken.
    await withoutDescriptors(server, async send => {
      expect(await send('POST', '/flags/?v=2', evaluation)).toBe(200)
      expect(await send('GET', '/_livez')).toBe(200)
      expect([200, 503]).toContain(await send('GET', '/_readyz'))
      expect([200, 503]).toContain(await send('GET', flags))
      expect([400, 503]).toContain(await send('POST', `${plugins}install/`, address))
      expect(await send('PATCH', `${plugins}${plugin.id}/update_source/`, source('Edited'))).toBe(503)
      expect([201, 503]).toContain(await send('POST', `${s.organization}/imports/`, imported))
    })
    const edited = await s.patch(`${plugins}${plugin.id}/update_source/`, source('Edited'))
    expect(edited.status, edited.text).toBe(200)
    const installed = await s.post(`${plugins}install/`, address)
    expect(installed.status, installed.text).toBe(201)
    const planned = await s.post(`${s.organization}/imports/`, imported)
    expect(planned.status, planned.text).toBe(201)

    // And so is the sandbox of plugins.
    const config = { plugin: installed.body.id, enabled: true, order: 0 }
    const { body: enabled } = await s.post(`${s.project}/plugin_configs/`, { ...config, enabled: false })
    await withoutDescriptors(server, async send => {
      expect([200, 503]).toContain(await send('PATCH', `${s.project}/plugin_configs/${enabled.id}/`, { enabled: true }))
      expect([200, 503]).toContain(await send('POST', '/batch/', events))
      expect(await send('POST', '/flags/?v=2', evaluation)).toBe(200)
    })
    expect((await s.patch(`${s.project}/plugin_configs/${enabled.id}/`, { enabled: true })).status).toBe(200)
    const isMarked = async () => {
      await s.as(undefined).post('/batch/', events)
      return (await s.get(`${s.project}/persons/?distinct_id=visitor`)).body.results[0]?.properties.marked
    }
    await expect.poll(isMarked).toBe(true)
    expect((await s.post(flags, { key: 'after' })).status).toBe(201)
    const evaluated = await s.as(undefined).post('/flags/?v=2', evaluation)
    expect(Object.keys(evaluated.body.flags).sort()).toEqual(['after', 'before'])
  })
})
