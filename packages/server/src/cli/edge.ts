import { type Config, ConfigError, readConfig } from '../config.ts'
import { UpstreamError } from '../edge/upstream.ts'
import { createEdge, type EdgeConfig } from '../edge-main.ts'
import { openPort } from '../http/server/node-server.ts'
import { openMetricsPort } from '../observability/metrics-endpoint.ts'
import { openTelemetry } from '../observability/telemetry/open-telemetry.ts'
import { version } from '../version.ts'
import { openLog } from './log/open-log.ts'
import { addressOf, stopOnSignal, warnOfSettings } from './process-life.ts'

// For tests, which run this bundle in their own process.
export { createEdge, readConfig }

export interface EdgeOptions {
  readonly upstream?: string
  readonly key?: string
  readonly data?: string
  readonly host?: string
  readonly port?: string
}

/** `halyard edge`: until SIGTERM or SIGINT. */
export async function edge(options: EdgeOptions): Promise<void> {
  const config = edgeConfig(options)
  const telemetry = openTelemetry(process.env, version)
  const { log } = openLog(config, telemetry)
  warnOfSettings(log)
  const running = await createEdge(config, log, telemetry)
  if (!running.isReady()) {
    const problem = await running.following.firstAttempt
    if (problem instanceof UpstreamError && problem.kind !== 'away') {
      await running.close()
      throw new ConfigError(`${problem.message}\n${howToGetKey}`)
    }
    if (problem)
      log.warn({ event: 'edge_not_ready', problem: problem.message }, 'no state yet; waiting for the upstream')
  }
  await running.app.ready()
  await openMetricsPort(running.app, running.metrics, config.host, config)
  await openPort(running.app.server, config)
  stopOnSignal(log, telemetry)(running)
  const { upstream } = config
  log.info(
    { event: 'server_listening', address: addressOf(config, running.app), upstream, data: config.edgeData },
    'Halyard is serving as an edge',
  )
}

const howToGetKey = `Create a key at the upstream, as an admin of the projects that the edge serves:
  halyard keys create --email you@example.com --label edge --scopes edge:write
or in the dashboard under "Personal API keys", and set it as HALYARD_UPSTREAM_KEY.`

function edgeConfig(options: EdgeOptions): EdgeConfig {
  const fromOptions = {
    HALYARD_UPSTREAM: options.upstream,
    HALYARD_UPSTREAM_KEY: options.key,
    HALYARD_EDGE_DATA: options.data,
    HOST: options.host,
    PORT: options.port,
  }
  const isGiven = ([, value]: [string, string | undefined]) => value !== undefined
  const config: Config = readConfig({
    ...process.env,
    ...Object.fromEntries(Object.entries(fromOptions).filter(isGiven)),
  })
  const { upstream, upstreamKey } = config
  if (upstream === undefined) throw new ConfigError('Set the server to replicate: --upstream URL, or HALYARD_UPSTREAM.')
  if (upstreamKey === undefined) throw new ConfigError(`The upstream needs a key.\n${howToGetKey}`)
  return { ...config, upstream, upstreamKey }
}
