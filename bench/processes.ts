import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ticksPerSecond = 100

/** CPU time of a process in seconds, including all threads. */
export function cpuSeconds(pid: number): number {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return Number.NaN
  const fields = readFileSync(path, 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** The clock has a resolution of one tick. Less than a tick counts as half a tick, to avoid a division by zero. */
export const cpuSecondsSince = (pid: number, before: number): number =>
  Math.max(cpuSeconds(pid) - before, 0.5 / ticksPerSecond)

/** Starts one of the benchmark's programs, which are bundled beside this file. */
export function startProgram(name: string, args: readonly string[] = [], node = process.execPath): ChildProcess {
  return fork(fileURLToPath(new URL(`${name}.mjs`, import.meta.url)), args, { execArgv: [], execPath: node })
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
