import { createRequire } from 'node:module'
import { join } from 'node:path'
import { mixedDefinitions } from '../mix.ts'
import type { Peers } from '../peers.ts'
import type { FollowingClient } from '../rows/clients.ts'
import { flagdFlags } from './flagd-flags.ts'

/** What is used of @grpc/grpc-js, and of the OpenFeature SDK. */
interface Call {
  write(flags: string): void
  on(event: string, listener: () => void): void
}
interface Grpc {
  Server: new () => {
    addService(service: object, handlers: object): void
    bindAsync(address: string, credentials: unknown, done: (error: Error | null, port: number) => void): void
    forceShutdown(): void
  }
  ServerCredentials: { createInsecure(): unknown }
}
interface Sdk {
  OpenFeature: {
    setProviderAndWait(provider: object): Promise<void>
    getClient(): {
      getStringValue(key: string, fallback: string, context: object): Promise<string>
      addHandler(event: string, handler: () => void): void
    }
    close(): Promise<void>
  }
}

const flagKey = 'followed'

/**
 * flagd's provider in process, and a sync source that pushes each change at once, in place of the daemon, which is not on npm.
 * Undefined when the provider is not installed.
 */
export async function startFlagdClient(peers: Peers): Promise<FollowingClient | undefined> {
  const folder = peers.find('flagd-provider')
  if (folder === undefined) return undefined
  const load = createRequire(join(folder, 'package.json'))
  const grpc = load('@grpc/grpc-js') as Grpc
  const { OpenFeature } = load('@openfeature/server-sdk') as Sdk
  const { FlagdProvider } = load('@openfeature/flagd-provider') as { FlagdProvider: new (options: object) => object }

  const base = JSON.parse(flagdFlags(mixedDefinitions(100))) as { flags: Record<string, object> }
  const documentWith = (value: string) =>
    JSON.stringify({
      ...base,
      flags: { ...base.flags, [flagKey]: { state: 'ENABLED', variants: { one: value }, defaultVariant: 'one' } },
    })
  const calls = new Set<Call>()
  const server = new grpc.Server()
  server.addService(syncService, {
    SyncFlags(call: Call) {
      calls.add(call)
      call.on('cancelled', () => calls.delete(call))
      call.write(documentWith('none'))
    },
    GetMetadata: (_call: unknown, done: (error: null, value: string) => void) => done(null, ''),
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  const options = { host: '127.0.0.1', port, tls: false, resolverType: 'in-process' }
  await OpenFeature.setProviderAndWait(new FlagdProvider(options))
  const client = OpenFeature.getClient()
  return {
    async change(value) {
      for (const call of calls) call.write(documentWith(value))
    },
    value: () => client.getStringValue(flagKey, 'none', { targetingKey: 'user' }),
    onDefinitions: listener => client.addHandler('PROVIDER_CONFIGURATION_CHANGED', listener),
    async stop() {
      await OpenFeature.close()
      server.forceShutdown()
    },
  }
}

/** Responses are protocol buffers with one field, a string. */
function encoded(text: string): Buffer {
  if (text === '') return Buffer.alloc(0)
  const bytes = Buffer.from(text)
  const length: number[] = []
  for (let rest = bytes.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest)
    if (rest <= 127) break
  }
  return Buffer.concat([Buffer.from([10, ...length]), bytes])
}

const method = (name: string, responseStream: boolean) => ({
  path: `/flagd.sync.v1.FlagSyncService/${name}`,
  requestStream: false,
  responseStream,
  requestSerialize: (value: Buffer) => value,
  requestDeserialize: (value: Buffer) => value,
  responseSerialize: encoded,
  responseDeserialize: (value: Buffer) => value,
})

const syncService = { SyncFlags: method('SyncFlags', true), GetMetadata: method('GetMetadata', false) }
