import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CheckResult, checkConformance, isConformant } from '@halyard/ofrep-conformance'
import { expect, it } from 'vitest'
import { onEachPath } from '../../packages/server/src/testing/paths.ts'
import { startProgram } from '../program/start-program.ts'

const failuresIn = (results: readonly CheckResult[]) => results.filter(({ outcome }) => outcome === 'failed')

onEachPath('the OFREP conformance checks', environment => {
  it('all apply to Halyard and pass', async () => {
    const s = await startProgram('sqlite', environment)
    try {
      const variants = [{ key: 'red', rollout_percentage: 100 }]
      await s.post(`${s.project}/feature_flags/`, { key: 'on' })
      await s.post(`${s.project}/feature_flags/`, { key: 'off', active: false })
      await s.post(`${s.project}/feature_flags/`, {
        key: 'color',
        filters: { groups: [{}], multivariate: { variants }, payloads: { red: '{"a":1}' } },
      })
      const headers = { authorization: `Bearer ${s.projectToken}` }
      const results = await checkConformance({ url: s.url, headers })
      expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
    } finally {
      await s.close()
    }
  })
})

it('a server that answers everything with the same page fails', async () => {
  const server = createServer((_request, response) => response.end('<h1>It works</h1>'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const results = await checkConformance({ url, headers: { authorization: 'Bearer x' } })
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
  expect(isConformant(results)).toBe(false)
  expect(failuresIn(results).map(({ id }) => id)).toContain('single-not-found')
  expect(isConformant(await checkConformance({ url }))).toBe(false)
})
