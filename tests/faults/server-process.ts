import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))
const program = join(root, 'packages/server/dist/halyard.js')

/** The first owner's key in every fault test. */
export const ownerKey = 'phx_faultsfaultsfaultsfaultsfaults'

export interface ServerProcess {
  readonly url: string
  readonly pid: number
  /** Its output, line by line. */
  readonly lines: readonly string[]
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<number | string>
  signal(name: NodeJS.Signals): void
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<number | string>
}

/** Starts the built server as a process, on this Node or another, and resolves when it serves. Rejects with its output when it does not. */
export async function startServer(
  databaseUrl: string,
  environment: Record<string, string> = {},
  node?: string,
  programPath?: string,
): Promise<ServerProcess> {
  const launched = launchServer(databaseUrl, environment, node, programPath)
  return { ...launched, url: await launched.serving }
}

/** The same, without waiting, optionally with another version of the program; the URL is known when it serves. */
export const launchServer = (
  databaseUrl: string,
  environment: Record<string, string> = {},
  node?: string,
  programPath?: string,
): Launched =>
  launch(
    [],
    {
      DATABASE_URL: databaseUrl,
      HALYARD_BOOTSTRAP_KEY: ownerKey,
      HALYARD_PASSWORD_COST: '10',
      HALYARD_FOUR_EYES_DAYS: '0',
      ...environment,
    },
    node,
    programPath,
  )

/** Starts an edge as a process; otherwise like `startServer`. */
export async function startEdge(
  args: readonly string[],
  environment: Record<string, string> = {},
  node?: string,
): Promise<ServerProcess> {
  const launched = launch(['edge', ...args], environment, node)
  return { ...launched, url: await launched.serving }
}

/** Starts `halyard dev` as a process; otherwise like `startServer`. */
export async function startDev(args: readonly string[]): Promise<ServerProcess> {
  const launched = launch(['dev', ...args], {})
  return { ...launched, url: await launched.serving }
}

type Launched = Omit<ServerProcess, 'url'> & { readonly serving: Promise<string> }

function launch(
  args: readonly string[],
  environment: Record<string, string>,
  node?: string,
  programPath?: string,
): Launched {
  // On a busy machine the event loop is late for reasons that are not the test's.
  const patience = { HALYARD_LAG_MILLISECONDS_MAX: '0' }
  const settings = { HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info', ...patience, ...environment }
  const { child, lines, ended } = run(args, settings, node, programPath)
  const serving = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', line => {
      const found = addressIn(line)
      if (found) resolve(found)
    })
    ended.then(code => reject(new Error(`The server exited with ${code} before it served:\n${lines.join('\n')}`)))
  })
  serving.catch(() => {})
  return {
    serving,
    pid: child.pid ?? 0,
    lines,
    ended,
    signal: name => void child.kill(name),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** Starts a command of the built program; its output can be read while it runs. */
export function startCommand(args: readonly string[], environment: Record<string, string> = {}) {
  const { child, lines, ended } = run(args, environment)
  return { lines, ended, kill: () => void child.kill('SIGKILL') }
}

/** Runs a command of the built program until it exits. */
export async function runCommand(
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<{ readonly code: number | string; readonly output: string }> {
  const { lines, ended } = run(args, environment)
  const code = await ended
  return { code, output: lines.join('\n') }
}

function run(
  args: readonly string[],
  environment: Record<string, string>,
  node = process.execPath,
  programPath = program,
) {
  if (!existsSync(programPath)) throw new Error('The server is not built: npm run build')
  const child: ChildProcess = spawn(node, [programPath, ...args], {
    env: { PATH: process.env.PATH, NODE_NO_WARNINGS: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on('line', line => {
      lines.push(line)
      if (lines.length > linesMax) lines.splice(0, lines.length - linesMax)
    })
  }
  const ended = new Promise<number | string>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  return { child, lines, ended }
}

const linesMax = 50_000

function addressIn(line: string): string | undefined {
  if (!line.includes('Halyard is serving')) return undefined
  return (JSON.parse(line) as { address?: string }).address
}
