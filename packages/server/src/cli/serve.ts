import type { AddressInfo } from 'node:net'
import { type Config, readConfig } from '../config.ts'
import type { FirstOwner } from '../features/identity/bootstrap.ts'
import type { Halyard } from '../main.ts'
import { openLog } from './open-log.ts'
import { startHalyard } from './start-halyard.ts'
import { isSupervisor, sayServing, siblings, supervise } from './workers.ts'

const drainMillisecondsMax = 10_000

/** `halyard serve`: until SIGTERM or SIGINT, which let requests under way finish. */
export async function serve(): Promise<void> {
  const config = readConfig(process.env)
  const log = openLog({
    level: config.logLevel,
    redact: { paths: ['req.headers.authorization', '*.password', '*.api_key', '*.token'], censor: '[hidden]' },
  })
  if (isSupervisor(config.workers)) return supervise(config.workers, log)
  const halyard = await startHalyard(config, log, { peers: siblings() }, stopOnSignal(log))
  const address = addressOf(config, halyard.app)
  if (halyard.firstOwner) console.log(welcome(address, halyard.firstOwner))
  log.info({ address, database: halyard.storage.dialect }, 'Halyard is serving')
  sayServing()
}

export function addressOf(config: Config, app: Pick<Halyard['app'], 'server'>): string {
  if (config.publicUrl) return config.publicUrl
  const { port } = app.server.address() as AddressInfo
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Shown once: only hashes are kept. In a form that can be pasted into a shell. */
const welcome = (address: string, owner: FirstOwner): string => `
  Welcome to Halyard. This is shown once; keep it.

    export HALYARD_URL=${address}
    export HALYARD_KEY=${owner.key}
    export HALYARD_PROJECT_ID=${owner.projectId}
    export HALYARD_PROJECT_TOKEN=${owner.projectToken}

  Sign in at ${address}/ as ${owner.email} with the password ${owner.password}
`

/**
 * Lets what is under way finish, then ends the process; before anything runs it ends it at once. Listens from the beginning to the end: a signal
 * that came between two listeners would be lost. Answers how to tell what runs.
 */
export function stopOnSignal(log: {
  info(message: string): void
}): (running: Pick<Halyard, 'drain' | 'close'>) => void {
  let isStopping = false
  let running: Pick<Halyard, 'drain' | 'close'> | undefined
  const stop = async () => {
    if (!running) process.exit(0)
    if (isStopping) return
    isStopping = true
    log.info('stopping: finishing what is under way')
    running.drain()
    setTimeout(() => process.exit(0), drainMillisecondsMax).unref()
    await running.close()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  return started => {
    running = started
  }
}
