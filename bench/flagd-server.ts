import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { mixedDefinitions } from './mix.ts'
import { flagdFlags } from './peers/flagd-flags.ts'

/** A minimal server with fastify and flagd-core that evaluates all flags for a context. `flagd-server <flags> <folder> <folder>`. */
const [flagCount = '100', fastifyFolder = '', flagdFolder = ''] = process.argv.slice(2)

interface App {
  readonly server: { address(): AddressInfo }
  post(path: string, handler: (request: { body: { context: object } }) => Promise<object>): void
  listen(options: object): Promise<string>
}
interface Core {
  setConfigurations(flags: string): void
  resolveAll(context: object): object[]
}

const { fastify } = createRequire(join(fastifyFolder, 'package.json'))('fastify') as { fastify: () => App }
const { FlagdCore } = createRequire(join(flagdFolder, 'package.json'))('@openfeature/flagd-core') as {
  FlagdCore: new () => Core
}

const core = new FlagdCore()
core.setConfigurations(flagdFlags(mixedDefinitions(Number(flagCount))))
const app = fastify()
app.post('/evaluate', async ({ body }) => ({ flags: core.resolveAll(body.context) }))
await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.({ port: app.server.address().port })
process.on('disconnect', () => process.exit())
process.on('SIGTERM', () => process.exit())
