import { resolve } from 'node:path'
import { readConfig } from '../../config.ts'
import { createDevServer } from '../../dev/dev-main.ts'
import { JsonFileError } from '../../dev/json-file.ts'
import { isLoopback } from '../../dev/local-request.ts'
import { openPort } from '../../http/server/node-server.ts'
import { openLog } from '../log/open-log.ts'
import { addressOf, stopOnSignal } from '../process-life.ts'
import { CommandError } from '../usage.ts'

export interface DevOptions {
  readonly file: string
  readonly overrides: string
  readonly host: string
  readonly port?: string
}

/** `halyard dev`: until SIGTERM or SIGINT. */
export async function dev({ file, overrides, host, port }: DevOptions): Promise<void> {
  const { DATABASE_URL: _unused, HALYARD_PUBLIC_URL: _other, ...environment } = process.env
  const config = readConfig({ ...environment, HOST: host, ...(port !== undefined && { PORT: port }) })
  const { log } = openLog(config)
  const files = { project: resolve(file), overrides: resolve(overrides) }
  const running = await createDevServer(config, files, log).catch(error => {
    throw error instanceof JsonFileError ? new CommandError(error.message) : error
  })
  await running.app.ready()
  await openPort(running.app.server, config)
  stopOnSignal(log)(running)
  if (!isLoopback(host))
    log.warn({ event: 'dev_not_loopback', host }, 'everyone who reaches this port can read the definitions')
  log.info(
    {
      event: 'server_listening',
      address: addressOf(config, running.app),
      file,
      flags: running.files.project.flags.length,
      overridden: running.files.overridden,
    },
    'Halyard is serving for development; any token works',
  )
}
