import { allRoutes, type Route, sdkRoutes } from '@halyard/contract'
import { expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

/** Without a credential, a route that needs one returns 401 whatever the body is: nothing of it was parsed. */

const needsHeader = ({ access, credentials }: Route): boolean => access.kind === 'key' || (credentials?.length ?? 0) > 0

const routesWithBody = ([...allRoutes, ...sdkRoutes] as readonly Route[]).filter(
  route => route.method !== 'GET' && needsHeader(route) && !(405 in route.responses),
)

onEachDatabase('without a credential', dialect => {
  const s = suiteScenario(dialect)

  it.each(routesWithBody.map(route => [route.method, route.path] as const))(
    '%s %s returns 401 before it parses the body',
    async (method, path) => {
      const url = `${path.replace(/:\w+/g, '1')}/`
      for (const body of ['{"broken', '[]', '{"version": 1e400}']) {
        const headers = { 'content-type': 'application/json' }
        const { status } = await s.as(undefined).send(url, { method, headers, body })
        expect([body, status]).toEqual([body, 401])
      }
    },
  )

  it('covers most routes', () => {
    expect(routesWithBody.length).toBeGreaterThan(80)
  })
})
