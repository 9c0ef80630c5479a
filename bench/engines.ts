import { once } from 'node:events'
import type { EngineTurn } from './engines/engine.ts'
import type { PeerName, Peers } from './peers.ts'
import { startProgram, stopProcess } from './processes.ts'

export interface RunningEngine {
  /** CPU nanoseconds per call of a workload. */
  run(work: string): Promise<number>
  stop(): Promise<void>
}

export type EngineName = 'halyard' | Extract<PeerName, 'posthog-node' | 'flagd-core' | 'unleash-client'>

/** Starts an engine with a Node executable; undefined when either is not installed. */
export async function startEngine(
  peers: Peers,
  name: EngineName,
  flagCount: number,
  node: string | undefined = process.execPath,
): Promise<RunningEngine | undefined> {
  const folder = name === 'halyard' ? '' : peers.find(name)
  if (folder === undefined) return undefined
  const child = startProgram('engine-contestant', [name, String(flagCount), folder], node)
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}.`)))
  failed.catch(() => {})
  await Promise.race([once(child, 'message'), failed])
  return {
    async run(work) {
      child.send(work)
      const [{ nanoseconds }] = (await Promise.race([once(child, 'message'), failed])) as [EngineTurn]
      return nanoseconds
    },
    stop: () => stopProcess(child),
  }
}
