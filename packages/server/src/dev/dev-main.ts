import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { actorOf } from '../api/edge/project-documents.ts'
import { serveOfrep } from '../api/ofrep/ofrep-routes.ts'
import { serveSdk } from '../api/sdk/sdk-routes.ts'
import { createServingHttp } from '../api/serving-http.ts'
import { serveStreams } from '../api/streams/stream-routes.ts'
import type { Config } from '../config.ts'
import { createReplica } from '../edge/replica.ts'
import { readUnsigned } from '../evaluation/projects/signed-overrides.ts'
import { serveIngest } from '../features/events/ingest-routes.ts'
import { readEvents } from '../features/events/read-events.ts'
import type { Authenticator } from '../http/server/authenticator.ts'
import { type Instant, instantOf } from '../instant.ts'
import { createMetrics } from '../observability/metrics.ts'
import { serveOperations } from '../observability/operations-routes.ts'
import { forbidden, missing } from '../problem.ts'
import { createServing } from '../serving.ts'
import { ownerLevel } from '../tenancy.ts'
import { type DevFiles, type FollowedFiles, followFiles, localProject } from './follow-files.ts'
import { isLocalRequest, isLoopback } from './local-request.ts'

/** A server for one developer: a project from a file, no database, any token. */
export interface DevServer {
  readonly app: FastifyInstance
  readonly files: FollowedFiles
  drain(): Promise<void>
  close(): Promise<void>
}

/** Composition root of `halyard dev`: what an edge serves, over files instead of an upstream. */
export async function createDevServer(config: Config, files: DevFiles, log: FastifyBaseLogger): Promise<DevServer> {
  const now = (): Instant => instantOf(new Date())
  const replica = createReplica()
  const followed = await followFiles({
    files,
    replica,
    onProblems: problems => {
      for (const problem of problems) log.warn({ event: 'dev_file_problem' }, problem)
    },
    onReload: (project, overridden) =>
      log.info({ event: 'dev_files_loaded', flags: project.flags.length, overridden }, 'loaded the changed files'),
  })
  const projectId = (): number => replica.findByUuid(localProject.uuid)!.id
  const ownerOf = (hash: string) => {
    const key = { hash, id: 'local', userId: 0, scopes: ['*'], projectIds: [], organizationIds: [], expiresAt: null }
    const levels = new Map([[localProject.organizationId, ownerLevel]] as const)
    return actorOf({ ...key, level: ownerLevel, currentProjectId: projectId() }, levels)
  }
  const authenticator: Authenticator = {
    authenticate: async () => ownerOf('').actor,
    authenticateAgain: async () => ownerOf('').actor,
    projectFor: async () => replica.findById(projectId())!,
    async organizationFor() {
      throw missing('Organization')
    },
    async scimHolder() {
      throw missing('Organization')
    },
  }
  const serving = createServing({
    source: {
      projects: {
        ...replica.projects,
        findIdByToken: async () => projectId(),
        findIdBySecretKey: async () => projectId(),
      },
      subjects: { find: async () => ({}) },
      findActor: async hash => ownerOf(hash),
      currentProjectOf: async () => ({ id: projectId() }),
      changes: replica.changes,
      acceptsToken: () => true,
      ...(isLoopback(config.host) && { readOverrides: readUnsigned }),
    },
    now,
    bodiesBytesMax: config.bodiesBytesMax,
  })
  const metrics = createMetrics()
  // One developer needs no fast path, and hooks apply to every request without it.
  const app = createServingHttp({
    config: { ...config, fastPath: 'off' },
    authenticator,
    serving,
    metrics,
    tracing: undefined,
    log,
  })
  app.addHook('onRequest', async ({ url, headers }) => {
    if (!/^\/(?:api|flags\/definitions)\b/.test(url) || isLocalRequest(headers, config.host)) return
    throw forbidden('"halyard dev" sends definitions to programs on this machine only, and not to web pages.')
  })

  let isDraining = false
  const readiness = {
    check: async () => ({ canEvaluate: true, canWrite: true, details: {} }),
    isDraining: () => isDraining,
  }
  serveOperations(app, readiness, metrics, config)
  serveSdk(app, serving)
  serveOfrep(app, serving)
  serveStreams(app, serving)
  // Events are checked as a server does, and dropped.
  serveIngest(app, {
    async receive(body, path, ip) {
      readEvents(body, { path, ip, now: now() })
    },
  })

  return {
    app,
    files: followed,
    drain() {
      isDraining = true
      serving.beginClosing()
      return serving.streams.drain()
    },
    async close() {
      serving.beginClosing()
      await followed.close()
      await app.close()
      serving.close()
    },
  }
}
