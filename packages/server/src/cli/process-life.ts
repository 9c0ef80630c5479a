import type { AddressInfo, Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Config, settingWarnings } from '../config.ts'
import type { Telemetry } from '../observability/telemetry/telemetry.ts'

/** What runs until it is stopped: a server, an edge or a development server. */
export interface Running {
  /** From now on the process reports that it is not ready. Resolves when its streams have ended, which takes some seconds at most. */
  drain(): Promise<void>
  close(): Promise<void>
}

/** Kubernetes kills after 30 seconds. */
const drainMillisecondsMax = 20_000
/** How long requests and connections that are on their way are waited for. */
const lastRequestsMilliseconds = 300

export function warnOfSettings(log: Pick<Logger, 'warn'>): void {
  for (const { event, message } of settingWarnings(process.env)) log.warn({ event }, message)
}

export function addressOf(config: Config, app: { readonly server: Pick<Server, 'address'> }): string {
  if (config.publicUrl) return config.publicUrl
  const { port } = app.server.address() as AddressInfo
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * Drains and ends the process; before anything runs it ends it at once. Registered before the start begins: a signal between two listeners would
 * be lost. Returns a function that takes what runs.
 */
export function stopOnSignal(log: Pick<Logger, 'info'>, telemetry?: Telemetry): (running: Running) => void {
  let isStopping = false
  let running: Running | undefined
  const stop = async () => {
    if (!running) process.exit(0)
    if (isStopping) return
    isStopping = true
    log.info({ event: 'server_stopping' }, 'stopping: waiting for requests in flight')
    setTimeout(() => process.exit(0), drainMillisecondsMax).unref()
    await Promise.all([running.drain(), wait(lastRequestsMilliseconds)])
    await running.close()
    log.info({ event: 'server_stopped' }, 'stopped')
    await telemetry?.close()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  return started => {
    running = started
  }
}
