import { type ServerProcess, startEdge, startServer } from '../faults/server-process.ts'
import { freePort } from '../free-port.ts'
import type { Killable } from './servers.ts'

/** A process of Halyard that keeps its address when it is started again. */
export interface KillableProcess extends Killable {
  readonly url: string
  /** Not while it is killed and until it serves again. */
  readonly isServing: boolean
}

export const killableNode = (databaseUrl: string, settings: Record<string, string>): Promise<KillableProcess> =>
  killable(PORT => startServer(databaseUrl, { ...settings, PORT }))

export const killableEdge = (args: readonly string[], key: string): Promise<KillableProcess> =>
  killable(PORT => startEdge(args, { HALYARD_UPSTREAM_KEY: key, PORT }))

async function killable(launch: (port: string) => Promise<ServerProcess>): Promise<KillableProcess> {
  const port = String(await freePort())
  let running = await launch(port)
  let isServing = true
  return {
    url: running.url,
    get isServing() {
      return isServing
    },
    kill() {
      isServing = false
      return running.kill()
    },
    async start() {
      running = await launch(port)
      isServing = true
    },
  }
}
