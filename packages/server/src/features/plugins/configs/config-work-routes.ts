import { routes } from '@halyard/contract'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { type Instant, parseInstant, plusMilliseconds } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import { metricsToWire } from '../plugin-resource.ts'
import { type LogType, logTypes, noMetrics } from '../runtime/plugin-work.ts'
import { getConfig, getUsed, requireCanConfigure } from './config-access.ts'
import type { PluginConfig } from './plugin-config.ts'
import { jobToWire, logToWire } from './plugin-config-resource.ts'
import { triggerJob } from './trigger-job.ts'

interface Deps extends RouteDeps {
  /** Called when there may be a job to do. */
  readonly wake: () => void
}

const dayMilliseconds = 24 * 60 * 60 * 1000

/** The jobs, logs and metrics of a plugin in a project. */
export function servePluginWork(serve: ServeRoute, { database, wake, now }: Deps): void {
  const r = routes.pluginConfigs

  serve(r.job, async request => {
    const { actor, project, params } = request
    await requireCanConfigure(database, actor, project)
    await database.read(tx => getConfig(tx, project, params.id))
    const { type, payload = {} } = request.body.job
    await database.transaction(async tx => {
      const config = await getConfig(tx, project, params.id)
      const plugin = await getUsed(tx, project, config)
      await triggerJob(tx, actor, project, plugin, config, { type, payload }, now())
    })
    wake()
    return answer({ status: 200 })
  })

  serve(r.jobs, ({ project, params, query, url }) =>
    database.read(async tx => {
      const config = await getConfig(tx, project, params.id)
      const window = readWindow(query)
      return pageBody(await tx.pluginJobs.list(config.id, window), window, url, job => jobToWire(job, now()))
    }),
  )

  serve(r.logs, ({ project, params, query, url }) =>
    database.read(async tx => {
      const config = await getConfig(tx, project, params.id)
      const window = readWindow(query)
      const page = await tx.pluginLogs.list(config.id, readLogFilter(query), window)
      return pageBody(page, window, url, log => logToWire(log, { config }))
    }),
  )

  serve(r.metrics, ({ project, params }) =>
    database.read(async tx => {
      const config = await getConfig(tx, project, params.id)
      const totals = (await sumLastDay(tx, [config], now())).get(config.id)
      const hours = await tx.pluginMetrics.list(config.id, aDayBefore(now()))
      return {
        ...metricsToWire(totals ?? noMetrics),
        hours: hours.map(each => ({ hour: each.hour, ...metricsToWire(each) })),
      }
    }),
  )
}

const aDayBefore = (now: Instant): Instant => plusMilliseconds(now, -dayMilliseconds)

/** By configuration. */
export const sumLastDay = (tx: Stores, configs: readonly PluginConfig[], now: Instant) =>
  tx.pluginMetrics.sum(
    configs.map(config => config.id),
    aDayBefore(now),
  )

/** Invalid instants and types are ignored, as in all queries. */
function readLogFilter(query: { before?: string; after?: string; search?: string; type_filter?: string }) {
  const before = query.before === undefined ? undefined : parseInstant(query.before)
  const after = query.after === undefined ? undefined : parseInstant(query.after)
  const wanted = (query.type_filter ?? '').toUpperCase().split(',')
  const types = logTypes.filter((type): type is LogType => wanted.includes(type))
  return {
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(query.search && { search: query.search }),
    ...(types.length > 0 && { types }),
  }
}
