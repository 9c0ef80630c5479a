import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'

/** An upstream that can go away and come back, with the same database and at the same address. */
export interface UpstreamDoor {
  readonly url: string
  readonly s: Scenario
  /** The upstream ends; whoever follows it is cut off. */
  away(): Promise<void>
  back(): Promise<void>
  /** Cuts all connections; new ones work. */
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
