import { EventEmitter, once } from 'node:events'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type EventSpool, openEventSpool } from './event-spool.ts'
import { forwardEvents } from './forward-events.ts'
import type { Upstream } from './upstream.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'halyard-spool-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const project = '01890000-0000-7000-8000-000000000000'
const event = (name: string) => ({
  uuid: '01890000-0000-7000-8000-000000000001',
  event: name,
  distinct_id: 'ada',
  properties: {},
  at: '2026-01-01T00:00:00Z',
  ip: null,
})

/** Reads everything in the spool, file by file. */
async function takeAll(spool: EventSpool): Promise<{ id: string; events: { event: string }[] }[]> {
  const batches: string[] = []
  for (let file = await spool.takeOldest(); file; file = await spool.takeOldest()) {
    batches.push(...file.lines)
    await file.remove()
  }
  return batches.map(line => JSON.parse(line))
}

it('returns batches in order, joins concurrent ones, and survives reopening', async () => {
  const first = await openEventSpool(folder, 1e6)
  await Promise.all(['a', 'b', 'c'].map(name => first.append({ project, events: [event(name)] })))
  await first.append({ id: 'given', project, events: [event('d')] })
  await first.close()
  const spool = await openEventSpool(folder, 1e6)
  expect(spool.bytes).toBeGreaterThan(0)
  await spool.append({ evaluations: { requests: 1, flags: 2 } })
  const batches = await takeAll(spool)
  expect(batches.flatMap(({ events = [] }) => events.map(({ event: name }) => name))).toEqual(['a', 'b', 'c', 'd'])
  expect(batches.map(({ id }) => id)).toContain('given')
  expect(new Set(batches.map(({ id }) => id)).size).toBe(batches.length)
  expect(batches.length).toBeLessThan(5)
  expect([spool.bytes, await readdir(folder)]).toEqual([0, []])
  await spool.close()
})

it('skips a truncated or damaged line, and nothing else', async () => {
  const first = await openEventSpool(folder, 1e6)
  await first.append({ project, events: [event('whole')] })
  await first.close()
  const [name] = await readdir(folder)
  const line = await readFile(join(folder, name!), 'utf8')
  await appendFile(join(folder, name!), line.replace('whole', 'other'))
  await appendFile(join(folder, name!), line.slice(0, 40))
  const spool = await openEventSpool(folder, 1e6)
  const batches = await takeAll(spool)
  expect(batches.map(({ events }) => events[0]!.event)).toEqual(['whole'])
  expect(spool.damaged).toBe(2)
  await spool.close()
})

it('rejects batches when full, and accepts more once space is free', async () => {
  const spool = await openEventSpool(folder, 700)
  await spool.append({ project, events: [event('a')] })
  await spool.append({ project, events: [event('b')] })
  const refused = { kind: 'unavailable', retryAfterSeconds: 30 }
  await expect(spool.append({ project, events: [event('c')] })).rejects.toMatchObject(refused)
  await takeAll(spool)
  await spool.append({ project, events: [event('d')] })
  expect(await takeAll(spool)).toHaveLength(1)
  await spool.close()
})

it('forwards again after a file could not be read', async () => {
  const spool = await openEventSpool(folder, 1e6)
  await spool.append({ project, events: [event('kept')] })
  const [name] = await readdir(folder)
  const path = join(folder, name!)
  await rename(path, `${path}.aside`)
  await mkdir(path)
  const calls = new EventEmitter()
  const failed = once(calls, 'failed')
  const sent = once(calls, 'sent')
  const upstream = {
    async send(batches: readonly string[]) {
      calls.emit('sent', batches)
      return []
    },
  } as unknown as Upstream
  const log = { warn() {}, error: (details: { err?: Error }) => calls.emit('failed', details.err) }
  const forwarding = forwardEvents({ spool, upstream, log })
  expect(await failed).toMatchObject([{ code: 'EISDIR' }])
  await rm(path, { recursive: true })
  await rename(`${path}.aside`, path)
  const [lines] = (await sent) as [readonly string[]]
  expect(lines.map(line => JSON.parse(line).events[0].event)).toEqual(['kept'])
  await forwarding.close()
})
