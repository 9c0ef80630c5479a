import { type Config, ConfigError, readConfig } from '../config.ts'
import { UpstreamError } from '../edge/upstream.ts'
import { createEdge, type EdgeConfig } from '../edge-main.ts'
import { openLog } from './open-log.ts'
import { addressOf, stopOnSignal } from './serve.ts'
import { readOptions, UsageError } from './usage.ts'

const usage = `halyard edge: evaluation near its users, without a database

  halyard edge --upstream URL [--key phx_…] [--data FOLDER] [--host H] [--port N]

  --upstream  the server, or the edge, to follow                      HALYARD_UPSTREAM
  --key       personal API key of an admin, scope edge:write          HALYARD_UPSTREAM_KEY (better: others see arguments)
  --data      folder for the last state and for events on their way   HALYARD_EDGE_DATA (edge-data)
  --host      address to listen on                                    HOST (127.0.0.1)
  --port      port to listen on                                       PORT (8000)

More in docs/operate/edge.md; all settings in docs/reference/settings.md.`

/** `halyard edge`: until SIGTERM or SIGINT. */
export async function edge(args: string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) return console.log(usage)
  const config = edgeConfig(args)
  const log = openLog({ level: config.logLevel, redact: { paths: ['req.headers.authorization'], censor: '[hidden]' } })
  const running = await createEdge(config, log)
  if (!running.isReady()) {
    const problem = await running.following.firstAttempt
    if (problem instanceof UpstreamError && problem.kind !== 'away') {
      await running.close()
      throw new UsageError(`${problem.message}\n${howToGetKey}`)
    }
    if (problem) log.warn({ problem: problem.message }, 'not ready: there is no state yet; waiting for the upstream')
  }
  await running.app.listen({ host: config.host, port: config.port })
  stopOnSignal(log)(running)
  const { upstream } = config
  log.info(
    { address: addressOf(config, running.app), upstream, data: config.edgeData },
    'Halyard is serving as an edge',
  )
}

const howToGetKey = `Make a key as an admin of the projects that the edge is to serve, at the upstream:
  halyard keys create --email you@example.com --label edge --scopes edge:write
or in the page under "Personal API keys", and give it as HALYARD_UPSTREAM_KEY.`

function edgeConfig(args: string[]): EdgeConfig {
  const { values, positionals } = readOptions(args, ['upstream', 'key', 'data', 'host', 'port'])
  if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is not expected here.\n\n${usage}`)
  const given = {
    HALYARD_UPSTREAM: values.upstream,
    HALYARD_UPSTREAM_KEY: values.key,
    HALYARD_EDGE_DATA: values.data,
    HOST: values.host,
    PORT: values.port,
  }
  const isGiven = ([, value]: [string, string | undefined]) => value !== undefined
  const config: Config = readConfig({ ...process.env, ...Object.fromEntries(Object.entries(given).filter(isGiven)) })
  const { upstream, upstreamKey } = config
  if (upstream === undefined) throw new ConfigError(`Say which server to follow: --upstream URL.\n\n${usage}`)
  if (upstreamKey === undefined) throw new ConfigError(`The upstream wants a key.\n${howToGetKey}`)
  return { ...config, upstream, upstreamKey }
}
