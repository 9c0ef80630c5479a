import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Program as ServerScenario, startProgram } from '../program/start-program.ts'
import { type Scenario, scenariosIn } from './openfeature-suites/features.ts'
import type { Platform } from './openfeature-suites/platform.ts'
import { serverPlatform } from './openfeature-suites/server-platform.ts'
import { NotSupported, run } from './openfeature-suites/steps.ts'
import { suiteFlags } from './openfeature-suites/suite-flags.ts'
import { webPlatform } from './openfeature-suites/web-platform.ts'

/**
 * Gherkin suites through Halyard's providers. `HALYARD_TEST_OPENFEATURE_SPEC` names a copy of OpenFeature's specification, whose
 * suites then run too.
 */
const specification = process.env.HALYARD_TEST_OPENFEATURE_SPEC

const ownFolder = new URL('openfeature-suites/', import.meta.url).pathname
const folders = [ownFolder, ...(specification ? [join(specification, 'specification/assets/gherkin')] : [])]
const features = folders.flatMap(folder =>
  readdirSync(folder)
    .filter(name => name.endsWith('.feature'))
    .map(name => ({ name, scenarios: scenariosIn(readFileSync(join(folder, name), 'utf8'), name) })),
)

/** What Halyard does differently, by a step of the scenario. */
const differences: readonly { readonly step: RegExp; readonly reason: string }[] = [
  { step: /^the variant should be "greeting"$/, reason: 'The value of a string flag is the key of its variant.' },
  { step: /the variant should be "greeting", and/, reason: 'The value of a string flag is the key of its variant.' },
  { step: /^the resolved metadata should contain$/, reason: 'Flags have no metadata of their own.' },
  { step: /^the resolved metadata is empty$/, reason: 'Each flag has metadata: its id, version and project.' },
  { step: /^the reason should be "CACHED"$/, reason: 'Each evaluation is computed; nothing is cached.' },
]

const differenceOf = ({ steps }: Scenario): string | undefined =>
  differences.find(({ step }) => steps.some(({ text }) => step.test(text)))?.reason

let s: ServerScenario
let platforms: { readonly platform: Platform; close(): Promise<void> }[]
const servers: Server[] = []

async function listen(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

beforeAll(async () => {
  s = await startProgram('sqlite')
  for (const flag of suiteFlags) {
    const { status, body } = await s.post(`${s.project}/feature_flags/`, flag)
    expect(status, JSON.stringify(body)).toBe(201)
  }
  const secret = (await s.post(`${s.project}/secret_keys/`, { label: 'suites' })).body.value
  const addresses = {
    url: s.url,
    silentUrl: await listen(createServer(() => {})),
    brokenUrl: await listen(createServer((_request, response) => void response.writeHead(500).end())),
  }
  platforms = [await serverPlatform(addresses, secret), webPlatform(addresses, s.projectToken)]
})
afterAll(async () => {
  for (const { close } of platforms) await close()
  for (const server of servers) {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  await s.close()
})

describe.each(features)('$name', ({ name, scenarios }) => {
  it.each(['server', 'web'])('through the provider for %s', async wanted => {
    const { platform } = platforms.find(({ platform: { name: is } }) => is === wanted)!
    const failures: string[] = []
    const excluded: string[] = []
    let passed = 0
    for (const scenario of scenarios) {
      const difference = differenceOf(scenario)
      try {
        await run(scenario, platform)
        passed++
        if (difference !== undefined) failures.push(`${scenario.name} passes although: ${difference}`)
      } catch (error) {
        const reason = error instanceof NotSupported ? error.message : difference
        if (reason === undefined) failures.push(`${scenario.name}: ${(error as Error).message}`)
        else excluded.push(`${scenario.name}: ${reason}`)
      }
    }
    if (specification) console.log(`${name}, ${wanted}: ${passed} passed\n${excluded.join('\n')}`)
    expect(failures).toEqual([])
    expect(passed + excluded.length).toBe(scenarios.length)
  })
})
