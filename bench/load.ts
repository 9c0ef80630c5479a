import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Load, LoadOrder } from './load-generator.ts'
import { cpuSeconds, cpuSecondsSince, startProgram, stopProcess } from './processes.ts'
import type { RequestPlan } from './requests.ts'

/** What a turn of load cost and gave. */
export interface Turn extends Load {
  /** Microseconds of processor time that the server had for each request. */
  readonly cpuEach: number
}

export interface Target {
  readonly id: string
  readonly port: number
  readonly pid: number
  readonly plan: RequestPlan
  /** The only status that counts as an answer. */
  readonly status: number
  /** How long each connection rests between an answer and its next request; without it, not at all. */
  readonly pauseMilliseconds?: number
}

export interface LoadSource {
  aim(target: Target, connections: number): Promise<(milliseconds: number) => Promise<Turn>>
  stop(): Promise<void>
}

/** The load comes from a process of its own. */
export function startLoad(): LoadSource {
  const child = startProgram('load-generator')
  return {
    async aim({ id, port, pid, plan, status, pauseMilliseconds = 0 }, connections) {
      await order(child, { plan, id, port, connections, pauseMilliseconds })
      return async milliseconds => {
        const before = cpuSeconds(pid)
        const load = (await order(child, { run: id, milliseconds })) as Load
        const wrong = Object.entries(load.statuses).filter(([given]) => Number(given) !== status)
        if (wrong.length > 0) throw new Error(`${id} answered ${JSON.stringify(load.statuses)} instead of ${status}.`)
        return { ...load, cpuEach: (cpuSecondsSince(pid, before) / load.requests) * 1e6 }
      }
    },
    stop: () => stopProcess(child),
  }
}

/** Answers come in the order of the orders, one at a time. */
function order(child: ChildProcess, message: LoadOrder): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`The load generator ended with ${code}.`))
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

export const startFloor = (bytes: number): Promise<Server> => startServing('floor-server', [String(bytes)])

/** A server of the bench in a process of its own. */
export async function startServing(program: string, args: readonly string[], node?: string): Promise<Server> {
  const child = startProgram(program, args, node)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { port, pid: child.pid!, stop: () => stopProcess(child) }
}
