import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { openPort } from '../http/server/node-server.ts'
import { createHalyard } from '../main.ts'
import { startHalyard } from './start-halyard.ts'

const log = pino({ level: 'silent' })
const configOf = (port: number) => readConfig({ DATABASE_URL: 'sqlite::memory:', PORT: String(port) })

it('answers evaluations before there are routes, and everything else when they are there', async () => {
  const halyard = await createHalyard(configOf(0), log)
  let hasRoutes = false
  halyard.app.addHook('onReady', async () => {
    hasRoutes = true
  })
  await halyard.warm()
  await openPort(halyard.app.server, { host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(halyard.app.server.address() as AddressInfo).port}`

  const body = JSON.stringify({ token: halyard.firstOwner?.projectToken, distinct_id: 'somebody' })
  const evaluation = await fetch(`${url}/flags/?v=2`, { method: 'POST', body })
  expect(evaluation.status).toBe(200)
  expect(await evaluation.json()).toMatchObject({ flags: {}, errorsWhileComputingFlags: false })
  expect(hasRoutes).toBe(false)

  const [ready, nowhere] = await Promise.all([fetch(`${url}/_readyz`), fetch(`${url}/nowhere`)])
  expect(hasRoutes).toBe(true)
  expect(await ready.json()).toMatchObject({ status: 'ready' })
  expect(nowhere.status).toBe(404)

  expect(await halyard.app.listen({ host: '127.0.0.1', port: 0 })).toBe(url)
  await halyard.close()
  await expect(fetch(`${url}/_readyz`)).rejects.toThrow()
})

it('can be stopped before there are routes', async () => {
  const halyard = await createHalyard(configOf(0), log)
  await openPort(halyard.app.server, { host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(halyard.app.server.address() as AddressInfo).port}`
  await halyard.close()
  await expect(fetch(`${url}/_readyz`)).rejects.toThrow()
})

it('says so when the port is taken, and leaves nothing behind', async () => {
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
