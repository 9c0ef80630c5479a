import type { Config } from '../../config.ts'
import { type Environment, telemetryTargets } from '../../observability/telemetry/open-telemetry.ts'
import { type Finding, isLoopback } from './security-findings.ts'

const connectMillisecondsMax = 3000

/** Where metrics are served and what is exported, and whether the collector can be reached. */
export async function monitoringFindings(
  { host, metricsPort, metricsToken }: Pick<Config, 'host' | 'metricsPort' | 'metricsToken'>,
  environment: Environment,
): Promise<Finding[]> {
  const port = metricsPort === undefined ? 'the main port' : `port ${metricsPort}`
  const access = metricsToken !== undefined ? 'with METRICS_TOKEN' : `without a token: ${readersOf(host)}`
  const metrics = { isGood: true, text: `Prometheus metrics are served at /metrics on ${port}, ${access}.` }
  return [metrics, ...(await telemetryFindings(environment))]
}

const readersOf = (host: string): string =>
  isLoopback(host)
    ? `HOST is ${host}, so only this machine can read them`
    : 'everyone who reaches this port can read them'

async function telemetryFindings(environment: Environment): Promise<Finding[]> {
  let targets: ReturnType<typeof telemetryTargets>
  try {
    targets = telemetryTargets(environment)
  } catch (error) {
    return [{ isGood: false, text: (error as Error).message }]
  }
  if (targets.length === 0) {
    return [{ isGood: true, text: 'Nothing is exported by OTLP (OTEL_EXPORTER_OTLP_ENDPOINT is unset).' }]
  }
  return Promise.all(
    targets.map(async ({ signal, url }) => {
      const name = signal.toLowerCase()
      const problem = await connectionProblem(url)
      return problem === undefined
        ? { isGood: true, text: `OTLP: ${name} are exported to ${url}.` }
        : { isGood: false, text: `OTLP: ${url} for ${name} cannot be reached (${problem}). Check the endpoint.` }
    }),
  )
}

/** Any response will do: collectors answer a GET with 404 or 405. */
async function connectionProblem(url: string): Promise<string | undefined> {
  try {
    await fetch(url, { signal: AbortSignal.timeout(connectMillisecondsMax), redirect: 'manual' })
    return undefined
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    return cause?.code ?? message
  }
}
