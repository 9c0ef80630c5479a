import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { cpuSeconds } from '../processes.ts'

/** CPU time of processes that are not the server itself. Those that have ended since do not count. */
export interface ProcessGroup {
  cpuSeconds(): number
}

export const noProcesses: ProcessGroup = { cpuSeconds: () => 0 }

/** The server processes of PostgreSQL. */
export async function postgresProcesses(url: string): Promise<ProcessGroup> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const postmaster = parentOf(rows[0]!.pid)
  await client.end()
  return { cpuSeconds: () => sum(childrenOf(postmaster)) }
}

/** The processes that this one starts meanwhile. */
export async function processesOf<T>(start: () => Promise<T>): Promise<{ readonly started: T; group: ProcessGroup }> {
  const before = new Set(childrenOf(process.pid))
  const started = await start()
  const pids = childrenOf(process.pid).filter(pid => !before.has(pid))
  return { started, group: { cpuSeconds: () => sum(pids) } }
}

const sum = (pids: readonly number[]): number =>
  pids.map(pid => cpuSeconds(pid)).reduce((total, seconds) => total + (Number.isNaN(seconds) ? 0 : seconds), 0)

function parentOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1])
  } catch {
    return Number.NaN
  }
}

function childrenOf(parent: number): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter(pid => pid > 0 && parentOf(pid) === parent)
  } catch {
    return []
  }
}
