import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'

/** An upstream that can stop and restart, with the same database and at the same URL. */
export interface UpstreamDoor {
  readonly url: string
  readonly s: Scenario
  /** Stops the upstream and closes all connections. */
  away(): Promise<void>
  back(): Promise<void>
  /** Closes all connections; new ones work. */
  cut(): void
  close(): Promise<void>
}

export async function openUpstreamDoor(databaseUrl: string): Promise<UpstreamDoor> {
  let s = await startScenario('sqlite', { databaseUrl })
  const target = { host: '127.0.0.1', port: portOf(s.url) }
  const proxy = await startTcpProxy(target)
  return {
    url: `http://127.0.0.1:${proxy.port}`,
    get s() {
      return s
    },
    async away() {
      await s.close()
      proxy.cut()
    },
    async back() {
      s = await startScenario('sqlite', { databaseUrl })
      target.port = portOf(s.url)
    },
    cut: proxy.cut,
    async close() {
      await proxy.close()
      await s.close()
    },
  }
}

const portOf = (url: string): number => Number(new URL(url).port)
