import { request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Route } from '@halyard/contract'
import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { createServeRoute } from '../routes/serve-route.ts'
import type { Authenticator } from './authenticator.ts'

it('aborts a handler when its client disconnects, and not before', async () => {
  const app = Fastify()
  app.decorateRequest('access')
  const serve = createServeRoute(app, {} as Authenticator, { take() {} }, { watch() {}, close() {} })
  const route = {
    method: 'POST',
    path: '/wait',
    tag: '',
    operationId: 'wait',
    summary: '',
    description: '',
    access: { kind: 'open' },
    responses: { 200: null },
  } as const
  let started = (_signal: AbortSignal) => {}
  const running = new Promise<AbortSignal>(resolve => {
    started = resolve
  })
  serve(route satisfies Route, async ({ signal }) => {
    started(signal)
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    return undefined
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const client = send({
    host: '127.0.0.1',
    port,
    path: '/wait',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  })
  client.on('error', () => {})
  client.end('{"long":"gone"}')
  const signal = await running
  // The whole body has been read by now; only the end of the connection may count.
  for (let n = 0; n < 20; n++) await new Promise(resolve => setImmediate(resolve))
  expect(signal.aborted).toBe(false)
  const gone = new Promise(resolve => signal.addEventListener('abort', resolve))
  client.destroy()
  await gone
  expect(signal.aborted).toBe(true)
  await app.close()
})
