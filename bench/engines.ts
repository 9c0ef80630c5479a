import { once } from 'node:events'
import type { EngineRound } from './engines/engine.ts'
import type { PeerName, Peers } from './peers.ts'
import { startProgram, stopProcess } from './processes.ts'

export interface RunningEngine {
  /** Nanoseconds per call of a task. */
  run(task: string): Promise<number>
  stop(): Promise<void>
}

export type EngineName = 'halyard' | Extract<PeerName, 'posthog-node' | 'flagd-core' | 'unleash-client'>

/** Starts an engine under a Node version; undefined when one of them is not installed. */
export async function startEngine(
  peers: Peers,
  name: EngineName,
  flagCount: number,
  node: string | undefined = process.execPath,
): Promise<RunningEngine | undefined> {
  const folder = name === 'halyard' ? '' : peers.find(name)
  if (folder === undefined) return undefined
  const child = startProgram('engine-process', [name, String(flagCount), folder], node)
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} exited with ${code}.`)))
  failed.catch(() => {})
  await Promise.race([once(child, 'message'), failed])
  return {
    async run(task) {
      child.send(task)
      const [{ nanoseconds }] = (await Promise.race([once(child, 'message'), failed])) as [EngineRound]
      return nanoseconds
    },
    stop: () => stopProcess(child),
  }
}
