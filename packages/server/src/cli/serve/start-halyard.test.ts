import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { readConfig } from '../../config.ts'
import { startHalyard } from './start-halyard.ts'

const log = pino({ level: 'silent' })
const configOf = (port: number) => readConfig({ DATABASE_URL: 'sqlite::memory:', PORT: String(port) })

it('serves evaluations, routes and 404s as soon as the port is open', async () => {
  const halyard = await startHalyard(configOf(0), log, {})
  const url = `http://127.0.0.1:${(halyard.app.server.address() as AddressInfo).port}`
  const body = JSON.stringify({ token: halyard.firstOwner?.projectToken, distinct_id: 'user-1' })
  const [evaluation, ready, unknown] = await Promise.all([
    fetch(`${url}/flags/?v=2`, { method: 'POST', body }),
    fetch(`${url}/_readyz`),
    fetch(`${url}/unknown`),
  ])
  expect(await evaluation.json()).toMatchObject({ flags: {}, errorsWhileComputingFlags: false })
  expect([evaluation.status, ready.status, unknown.status]).toEqual([200, 200, 404])
  await halyard.close()
  await expect(fetch(`${url}/_readyz`)).rejects.toThrow()
})

it('rejects with EADDRINUSE when the port is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(startHalyard(configOf(port), log, {})).rejects.toMatchObject({ code: 'EADDRINUSE' })
  other.close()
})

it('is ready when it has started, and stops', async () => {
  const running: unknown[] = []
  const halyard = await startHalyard(configOf(0), log, {}, started => running.push(started))
  expect(running).toEqual([halyard])
  const url = `http://127.0.0.1:${(halyard.app.server.address() as AddressInfo).port}`
  expect(await (await fetch(`${url}/_readyz`)).json()).toMatchObject({ status: 'ready' })
  await halyard.close()
  await expect(fetch(url)).rejects.toThrow()
})
