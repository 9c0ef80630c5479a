import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import { evaluationUrl } from '../../fast-path/evaluation-url.ts'
import type { RespondEvaluation } from '../../fast-path/respond-evaluation.ts'
import { type Query, queryOf } from '../../http/routes/query-of.ts'
import { readBodyOf, serveSdkPath } from '../../http/sdk-body/sdk-path.ts'
import { missing, Problem } from '../../problem.ts'
import type { Definitions } from './definitions.ts'
import { isKnown } from './etag.ts'
import { olderConfig, remoteConfig, remoteConfigScript } from './remote-config.ts'
import { credentialOf, type SdkAccess } from './sdk-access.ts'

interface Deps {
  readonly snapshots: Snapshots
  readonly access: SdkAccess
  readonly answerEvaluation: RespondEvaluation
  readonly definitions: Definitions
}

/** The paths that PostHog's client libraries call, beside those for events. */
export function serveSdk(app: FastifyInstance, { snapshots, access, answerEvaluation, definitions }: Deps): void {
  for (const endpoint of ['flags', 'decide'] as const) {
    serveSdkPath(app, ['GET', 'POST'], `/${endpoint}`, async (request, reply) => {
      const query = queryOf(request)
      if (request.method !== 'POST') return sendJson(reply, JSON.stringify(emptyAnswer(query)))
      const body = await readBodyOf(request)
      return sendJson(reply, await answerEvaluation.whenReady(evaluationUrl(endpoint, query), request.headers, body))
    })
  }

  for (const path of ['/flags/definitions', '/api/feature_flag/local_evaluation']) {
    serveSdkPath(app, ['GET'], path, async (request, reply) => {
      const query = queryOf(request)
      const served = await access.toDefinitions(credentialOf(request.headers), query.token)
      const { json, etag } = definitions.bodyOf(served, isSent(query.send_cohorts))
      return sendUnlessKnown(request, reply, etag, () => json)
    })
  }

  serveSdkPath(app, ['GET'], '/api/projects/:project_id/feature_flags/:key/remote_config', async (request, reply) => {
    const { project_id, key } = request.params as { project_id: string; key: string }
    const served = await access.toDefinitions(credentialOf(request.headers), queryOf(request).token)
    if (project_id !== '@current' && project_id !== String(served.project.id)) throw missing('Project')
    return sendJson(reply, payloadOf(served, key))
  })

  serveSdkPath(app, ['GET'], '/array/:token/config', async (request, reply) => {
    const { project } = await projectOf(snapshots, request)
    return sendJson(reply.headers(briefly), JSON.stringify(remoteConfig(project.apiToken)))
  })

  serveSdkPath(app, ['GET'], '/array/:token/config.js', async (request, reply) => {
    const { project } = await projectOf(snapshots, request)
    const script = remoteConfigScript(project.apiToken)
    return reply.headers(briefly).type('application/javascript; charset=utf-8').send(script)
  })

  serveSdkPath(app, ['GET'], '/api/surveys', async (_request, reply) =>
    sendJson(reply, JSON.stringify({ surveys: [], survey_config: null })),
  )
  serveSdkPath(app, ['GET'], '/api/early_access_features', async (_request, reply) =>
    sendJson(reply, JSON.stringify({ earlyAccessFeatures: [] })),
  )
}

const briefly = { 'cache-control': 'public, max-age=60' }

const isSent = (value: string | undefined): boolean => value !== undefined && value !== 'false' && value !== '0'

/** What a GET is answered with: it names nobody, so there is nothing to evaluate. */
const emptyAnswer = ({ token }: Query) => {
  const { token: _token, ...config } = remoteConfig(token ?? '')
  return { errorsWhileComputingFlags: false, flags: {}, featureFlags: {}, ...config, ...olderConfig }
}

const sendJson = (reply: FastifyReply, json: string | Buffer): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(json)

/** Answers 304 when the client has what it would get. */
function sendUnlessKnown(
  request: FastifyRequest,
  reply: FastifyReply,
  etag: string,
  json: () => string | Buffer,
): FastifyReply {
  reply.headers({ etag, 'cache-control': 'private, must-revalidate', 'access-control-expose-headers': 'ETag' })
  return isKnown(request.headers['if-none-match'], etag) ? reply.code(304).send() : sendJson(reply, json())
}

async function projectOf(snapshots: Snapshots, request: FastifyRequest): Promise<ServedProject> {
  const { token } = request.params as { token: string }
  const served = await snapshots.forToken(token)
  if (!served) throw new Problem('missing', 'No project has this token.')
  return served
}

/** By key or id. The payload itself, or null when the flag is off or has none. */
function payloadOf(served: ServedProject, keyOrId: string): string {
  const { snapshot, flags } = served
  const key =
    snapshot.indexOf(keyOrId) === undefined && /^\d{1,15}$/.test(keyOrId) ? flags.get(Number(keyOrId))?.key : keyOrId
  const index = key === undefined ? undefined : snapshot.indexOf(key)
  if (index === undefined) throw missing('Flag')
  const flag = flags.get(snapshot.flags[index]!.id)!
  const payloads = flag.filters.payloads as Record<string, unknown> | null | undefined
  const payload = flag.active ? payloads?.true : undefined
  if (typeof payload !== 'string') return JSON.stringify(payload ?? null)
  return isJson(payload) ? payload : JSON.stringify(payload)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
