import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import type { Definitions } from '../../../packages/engine/src/index.ts'
import { serveOfrep } from '../../../packages/server/src/api/ofrep/ofrep-routes.ts'
import { serveSdk } from '../../../packages/server/src/api/sdk/sdk-routes.ts'
import { createServingHttp } from '../../../packages/server/src/api/serving-http.ts'
import { serveStreams } from '../../../packages/server/src/api/streams/stream-routes.ts'
import { readConfig } from '../../../packages/server/src/config.ts'
import { type Flag, newFlagContent } from '../../../packages/server/src/domain/flag.ts'
import type { ProjectContent } from '../../../packages/server/src/evaluation/projects/served-project.ts'
import type { StoredSubject } from '../../../packages/server/src/evaluation/subjects/gather-subject.ts'
import { hashSecret } from '../../../packages/server/src/features/identity/secret.ts'
import { instantOf } from '../../../packages/server/src/instant.ts'
import { createMetrics } from '../../../packages/server/src/observability/metrics.ts'
import { missing } from '../../../packages/server/src/problem.ts'
import { createServing } from '../../../packages/server/src/serving.ts'

/**
 * A server's own HTTP application over definitions in memory: also those that the API would refuse to store, such as flags that depend on
 * each other, because older data and other versions may contain them.
 */
export interface DefinitionsServer {
  readonly url: string
  /** Serves the definitions as a project of their own. */
  add(definitions: Definitions): ServedDefinitions
  close(): Promise<void>
}

export interface ServedDefinitions {
  readonly token: string
  readonly secretKey: string
  /** The id of the project, as providers report it. */
  readonly flagSetId: string
  /** What the server has stored about a person. */
  store(distinctId: string, stored: StoredSubject): void
  remove(): void
}

interface Held {
  readonly content: ProjectContent
  readonly stored: Map<string, StoredSubject>
}

const unavailable = async (): Promise<never> => {
  throw missing('Project')
}

export async function startDefinitionsServer(): Promise<DefinitionsServer> {
  const held = new Map<number, Held>()
  const idByToken = new Map<string, number>()
  const idBySecretKey = new Map<string, number>()
  let lastId = 0

  const config = readConfig({ PORT: '0', HALYARD_LAG_MILLISECONDS_MAX: '0', DATABASE_URL: 'sqlite::memory:' })
  const log = pino({ level: 'silent' })
  const serving = createServing({
    source: {
      projects: {
        findIdByToken: async token => idByToken.get(token),
        findIdBySecretKey: async hash => idBySecretKey.get(hash),
        read: async id => held.get(id)?.content,
        readFlags: async (id, flagIds) => held.get(id)?.content.flags.filter(flag => flagIds.includes(flag.id)) ?? [],
      },
      subjects: { find: async (id, { distinctId }) => held.get(id)?.stored.get(distinctId) ?? {} },
      findActor: async () => undefined,
      currentProjectOf: unavailable,
      changes: { subscribe: () => () => {} },
    },
    now: () => instantOf(new Date()),
    bodiesBytesMax: config.bodiesBytesMax,
  })
  const authenticator = {
    authenticate: unavailable,
    authenticateAgain: unavailable,
    projectFor: unavailable,
    organizationFor: unavailable,
    scimHolder: unavailable,
  }
  const metrics = createMetrics()
  const app = createServingHttp({ config, authenticator, serving, metrics, tracing: undefined, log })
  serveSdk(app, serving)
  serveOfrep(app, serving)
  serveStreams(app, serving)
  await app.listen({ host: '127.0.0.1', port: 0 })

  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    add(definitions) {
      const id = ++lastId
      const names = { token: `phc_${id}`, secretKey: `phs_${id}`, flagSetId: String(id) }
      const stored = new Map<string, StoredSubject>()
      held.set(id, { content: contentOf(id, names.token, definitions), stored })
      idByToken.set(names.token, id)
      idBySecretKey.set(hashSecret(names.secretKey), id)
      return {
        ...names,
        store: (distinctId, subject) => void stored.set(distinctId, subject),
        remove() {
          held.delete(id)
          idByToken.delete(names.token)
          idBySecretKey.delete(hashSecret(names.secretKey))
        },
      }
    },
    async close() {
      serving.beginClosing()
      serving.close()
      await app.close()
    },
  }
}

function contentOf(id: number, apiToken: string, definitions: Definitions): ProjectContent {
  const at = instantOf(new Date(0))
  const user = {
    id: 0,
    uuid: '',
    distinctId: '',
    firstName: '',
    email: '',
    isEmailVerified: false,
  }
  const flags = definitions.flags.map((flag): Flag => {
    const { id: flagId, key, active, filters, ensureExperienceContinuity, bucketingIdentifier, version } = flag
    return {
      ...newFlagContent(key, at),
      id: flagId,
      projectId: id,
      active,
      filters: (filters ?? {}) as Flag['filters'],
      ensureExperienceContinuity: ensureExperienceContinuity ?? false,
      bucketingIdentifier: bucketingIdentifier ?? null,
      version: version ?? 1,
      createdBy: user,
      usageDashboardId: 0,
      updatedAt: at,
      lastModifiedBy: null,
      activeSince: at,
    }
  })
  const { cohorts, groupTypes, propertyMatchingVersion } = definitions
  const project = {
    id,
    uuid: String(id),
    organizationId: '',
    name: '',
    apiToken,
    timezone: 'UTC',
    propertyMatchingVersion,
    groupTypes,
    createdAt: at,
    updatedAt: at,
  }
  return { project, flags, cohorts, hasPersons: true }
}
