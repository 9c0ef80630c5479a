import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Config } from '../config.ts'
import type { Authenticator } from '../http/server/authenticator.ts'
import { createHttp } from '../http/server/create-http.ts'
import { createAccessLog } from '../observability/access-log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Tracing } from '../observability/telemetry/tracing.ts'
import { createLoadShedder } from '../overload/load-shedder.ts'
import type { Serving } from '../serving.ts'
import { createEvaluationHandler } from './sdk/evaluation-handler.ts'

interface Deps {
  readonly config: Pick<
    Config,
    'accessLog' | 'bodyBytesMax' | 'fastPath' | 'inFlightMax' | 'lagMillisecondsMax' | 'trustProxy'
  >
  readonly authenticator: Authenticator
  readonly serving: Serving
  readonly metrics: Metrics
  readonly tracing: Tracing | undefined
  readonly log: FastifyBaseLogger
}

/** The HTTP server that nodes and edges have in common: evaluation, load shedding, access log and metrics. */
export function createServingHttp({ config, authenticator, serving, metrics, tracing, log }: Deps): FastifyInstance {
  const { trustProxy } = config
  const shedder = createLoadShedder(config)
  const accessLog = createAccessLog(config.accessLog)
  const { requests } = metrics
  metrics.watchLoad(shedder.load)
  metrics.watchEvaluations(() => serving.counts.totals)
  metrics.watchBodies(serving.bodyMemory)
  metrics.watchServing(serving)
  return createHttp({
    authenticator,
    log,
    accessLog,
    trustProxy,
    bodyBytesMax: config.bodyBytesMax,
    bodyMemory: serving.bodyMemory,
    shedder,
    tracing,
    isStopping: serving.isClosing,
    first:
      config.fastPath === 'on'
        ? createEvaluationHandler({ ...serving, shedder, requests, accessLog, log, trustProxy, tracing })
        : undefined,
    onResponse: requests.observe,
  })
}
