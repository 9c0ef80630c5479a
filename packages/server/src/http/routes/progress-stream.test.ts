import type { Route } from '@halyard/contract'
import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { Problem } from '../../problem.ts'
import type { ChangeListener } from '../../storage/changes/changes.ts'
import type { Actor } from '../../tenancy.ts'
import { createServeRoute, withProgress } from './serve-route.ts'
import { createStreamGuard } from './stream-guard.ts'

const actor = { key: { id: 'key', scopes: ['*'] } } as unknown as Actor
const route = {
  method: 'POST',
  path: '/work',
  tag: '',
  operationId: 'work',
  summary: '',
  description: '',
  access: { kind: 'key', within: 'user', scopes: ['feature_flag:write'] },
  responses: { 200: null },
} as const

it('disconnects a caller that loses access during long work, which cancels the work', async () => {
  let publish: ChangeListener = () => {}
  const guard = createStreamGuard({
    subscribe(listener) {
      publish = listener
      return () => {}
    },
  })
  let isRevoked = false
  const authenticate = async () => {
    if (isRevoked) throw new Problem('unauthenticated', 'This API key is not valid.')
    return actor
  }
  const nowhere = { projectFor: never, organizationFor: never, scimHolder: never }
  const authenticator = { authenticate, authenticateAgain: authenticate, ...nowhere }
  const app = Fastify()
  app.decorateRequest('access')
  const steps: string[] = []
  const outcome = new Promise<unknown>(resolve => {
    createServeRoute(
      app,
      authenticator,
      { take() {} },
      guard,
    )(route satisfies Route, async ({ headers }) =>
      withProgress(headers, async report => {
        try {
          for (let step = 1; ; step += 1) {
            report(`Step ${step}`)
            steps.push(`Step ${step}`)
            await new Promise(resolve => setImmediate(resolve))
          }
        } catch (error) {
          resolve(error)
          throw error
        }
      }),
    )
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const response = await fetch(`${url}/work`, { method: 'POST', headers: { accept: 'application/x-ndjson' } })
  const reader = response.body!.getReader()
  await reader.read()
  expect(steps).toContain('Step 1')
  isRevoked = true
  await publish([{ sequence: 1, topic: 'identity', organizationId: null, projectId: null, entityId: '', at: '' }])
  expect(await outcome).toBeInstanceOf(Error)
  const readAll = async () => {
    while (!(await reader.read()).done);
  }
  await expect(readAll()).rejects.toThrow()
  guard.close()
  await app.close()
})

async function never(): Promise<never> {
  throw new Error('not used')
}
