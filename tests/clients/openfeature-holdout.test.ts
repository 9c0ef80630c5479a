import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HalyardProvider } from '@halyard/openfeature-server'
import { HalyardWebProvider } from '@halyard/openfeature-web'
import { OFREPProvider } from '@openfeature/ofrep-provider'
import { OpenFeature, type Provider } from '@openfeature/server-sdk'
import { OpenFeature as OpenFeatureWeb } from '@openfeature/web-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ownerKey, type ServerProcess, startEdge, startServer } from '../faults/server-process.ts'

/** A holdout withholds a boolean flag, wherever it is evaluated: with the built server, a built edge and each provider. */

let server: ServerProcess
let edge: ServerProcess
let folder: string
let secret: string
let token: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halyard-holdout-'))
  server = await startServer('sqlite::memory:')
  const { api_token } = await call('/api/projects/@current/')
  token = api_token!
  const filters = { groups: [{}], holdout: { id: 3, exclusion_percentage: 50 } }
  await call('/api/projects/@current/feature_flags/', { key: 'held', filters })
  secret = (await call('/api/projects/@current/secret_keys/', { label: 'holdout' })).value!
  const { value } = await call('/api/personal_api_keys/', { label: 'edge', scopes: ['edge:write'] })
  edge = await startEdge(['--upstream', server.url, '--data', folder], { HALYARD_UPSTREAM_KEY: value! })
})
afterAll(async () => {
  await OpenFeature.close()
  await OpenFeatureWeb.close()
  await edge?.stop()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function call(path: string, body?: object): Promise<Record<string, string>> {
  const response = await fetch(server.url + path, {
    headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  return (await response.json()) as Record<string, string>
}

const people = Array.from({ length: 40 }, (_, n) => `user-${n}`)

/** Value and variant of each person; the default in the code is the opposite of what a holdout gives. */
async function detailsOf(name: string, provider: Provider): Promise<string[]> {
  await OpenFeature.setProviderAndWait(name, provider)
  const client = OpenFeature.getClient(name)
  return Promise.all(
    people.map(async targetingKey => {
      const { value, variant, errorCode } = await client.getBooleanDetails('held', true, { targetingKey })
      return `${value} ${variant} ${errorCode}`
    }),
  )
}

const ofrep = (baseUrl: string) => new OFREPProvider({ baseUrl, headers: [['Authorization', `Bearer ${token}`]] })

it('gives a held-out person the value false and the variant of the holdout, equally everywhere', async () => {
  const expected = await detailsOf('server', ofrep(server.url))
  expect(new Set(expected)).toEqual(new Set(['true on undefined', 'false holdout-3 undefined']))
  expect(await detailsOf('edge', ofrep(edge.url))).toEqual(expected)
  expect(await detailsOf('in process', new HalyardProvider({ url: server.url, key: secret }))).toEqual(expected)
  const web = new HalyardWebProvider({ url: server.url, token })
  const heldOut = people[expected.findIndex(each => each.startsWith('false'))]!
  await OpenFeatureWeb.setContext({ targetingKey: heldOut })
  await OpenFeatureWeb.setProviderAndWait(web)
  const { value, variant } = OpenFeatureWeb.getClient().getBooleanDetails('held', true)
  expect([value, variant]).toEqual([false, 'holdout-3'])
})
