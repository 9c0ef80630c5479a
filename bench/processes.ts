import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

const ticksPerSecond = 100

/** Seconds of processor time that a process has had, all its threads together. */
export function cpuSeconds(pid: number): number {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return Number.NaN
  const fields = readFileSync(path, 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** The clock moves in ticks. What is less than one counts as half of one, not as nothing, by which nothing could be divided. */
export const cpuSecondsSince = (pid: number, before: number): number =>
  Math.max(cpuSeconds(pid) - before, 0.5 / ticksPerSecond)

/** What a process has in memory. */
export function residentMegabytes(pid: number): number {
  const path = `/proc/${pid}/status`
  const text = existsSync(path)
    ? /VmRSS:\s+(\d+)/.exec(readFileSync(path, 'utf8'))?.[1]
    : spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  return Number(text) / 1024
}

export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** A program of the bench in a process of its own. Everything is bundled beside this file. */
export function startProgram(name: string, args: readonly string[] = [], node = process.execPath): ChildProcess {
  return fork(fileURLToPath(new URL(`${name}.mjs`, import.meta.url)), args, { execArgv: [], execPath: node })
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
