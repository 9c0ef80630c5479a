import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Load, LoadCommand } from './load-generator.ts'
import { cpuSeconds, cpuSecondsSince, startProgram, stopProcess } from './processes.ts'
import type { RequestPlan } from './requests.ts'

/** The result of one round of load. */
export interface Round extends Load {
  /** Server CPU time per request, in microseconds. */
  readonly cpuEach: number
}

export interface Target {
  readonly id: string
  readonly port: number
  readonly pid: number
  readonly plan: RequestPlan
  /** The expected status; any other fails the run. */
  readonly status: number
  /** Pause of each connection between a response and its next request; none by default. */
  readonly pauseMilliseconds?: number
  /** Each request on a connection of its own. */
  readonly isNewConnectionEach?: boolean
}

export interface LoadSource {
  aim(target: Target, connections: number): Promise<(milliseconds: number) => Promise<Round>>
  stop(): Promise<void>
}

/** Starts the load generator in its own process. */
export function startLoad(): LoadSource {
  const child = startProgram('load-generator')
  return {
    async aim({ id, port, pid, plan, status, pauseMilliseconds = 0, isNewConnectionEach = false }, connections) {
      await call(child, { plan, id, port, connections, pauseMilliseconds, isNewConnectionEach })
      return async milliseconds => {
        const before = cpuSeconds(pid)
        const load = (await call(child, { run: id, milliseconds })) as Load
        const wrong = Object.entries(load.statuses).filter(([actual]) => Number(actual) !== status)
        if (wrong.length > 0) throw new Error(`${id} returned ${JSON.stringify(load.statuses)} instead of ${status}.`)
        return { ...load, cpuEach: (cpuSecondsSince(pid, before) / load.requests) * 1e6 }
      }
    },
    stop: () => stopProcess(child),
  }
}

/** Sends a command and waits for its reply; one call at a time. */
function call(child: ChildProcess, message: LoadCommand): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`The load generator exited with ${code}.`))
    child.once('exit', onExit)
    child.once('message', reply => {
      child.off('exit', onExit)
      resolve(reply)
    })
    child.send(message)
  })
}

export interface Server {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

export const startBaseline = (bytes: number): Promise<Server> => startServing('baseline-server', [String(bytes)])

/** Starts one of the benchmark's servers in its own process. */
export async function startServing(program: string, args: readonly string[], node?: string): Promise<Server> {
  const child = startProgram(program, args, node)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { port, pid: child.pid!, stop: () => stopProcess(child) }
}
