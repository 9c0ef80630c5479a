import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import { overridesHeaders } from '../../evaluation/request-overrides.ts'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import type { SdkCalls } from '../../features/sdk-usage/sdk-calls.ts'
import { type Query, queryOf } from '../../http/routes/query-of.ts'
import { reserveResponse } from '../../http/sdk-body/receive-body.ts'
import { readBodyOf, readBodySyncOf, serveSdkPath } from '../../http/sdk-body/sdk-path.ts'
import { jsonContentType } from '../../http/server/response-headers.ts'
import { spanOf } from '../../observability/telemetry/trace-requests.ts'
import type { BodyMemoryBudget } from '../../overload/body-memory-budget.ts'
import { missing, Problem } from '../../problem.ts'
import { serveBrowserLibrary } from './browser-library-routes.ts'
import { type Definitions, type DefinitionsBody, definitionsHeaders } from './definitions.ts'
import { isKnown } from './etag.ts'
import { evaluationUrl } from './evaluation-url.ts'
import { olderConfig, remoteConfig, remoteConfigScript } from './remote-config.ts'
import { credentialOf, type SdkAccess } from './sdk-access.ts'
import type { SdkEvaluation, SdkResult } from './sdk-evaluation.ts'
import { traceEvaluation } from './trace-evaluation.ts'

interface Deps {
  readonly snapshots: Snapshots
  readonly access: SdkAccess
  readonly evaluation: SdkEvaluation
  readonly definitions: Definitions
  readonly sdkCalls: Pick<SdkCalls, 'note'>
  readonly bodyMemory: BodyMemoryBudget
}

/** The paths that PostHog SDKs call, except those for events. */
export function serveSdk(app: FastifyInstance, deps: Deps): void {
  const { snapshots, access, evaluation, definitions, sdkCalls, bodyMemory } = deps
  for (const endpoint of ['flags', 'decide'] as const) {
    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      const query = queryOf(request)
      if (request.method !== 'POST') {
        sendJson(reply, JSON.stringify(emptyResponse(query)))
        return undefined
      }
      const url = evaluationUrl(endpoint, query)
      const evaluate = (body: unknown) => evaluation.evaluate(url, request.headers, body)
      const respond = (result: SdkResult): FastifyReply => {
        noteProject(request, result.served)
        sdkCalls.note(result.served.project.id, request.headers, query.ver)
        traceEvaluation(spanOf(request), result.served, result.evaluation)
        const json = evaluation.serialize(url, result, request.id)
        reserveResponse(bodyMemory, reply.raw, json.length)
        return sendJson(reply.headers(overridesHeaders(result.overrides)), json)
      }
      const body = readBodySyncOf(request)
      const result = body === undefined ? readBodyOf(request).then(evaluate) : evaluate(body)
      if (result instanceof Promise) return result.then(respond)
      // Without a promise where none is needed: waiting for one is a measurable part of a request.
      respond(result)
      return undefined
    }
    serveSdkPath(app, ['GET', 'POST'], `/${endpoint}`, handler, 'evaluation')
  }

  for (const path of ['/flags/definitions', '/api/feature_flag/local_evaluation']) {
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const query = queryOf(request)
      const served = await access.toDefinitions(credentialOf(request.headers), query.token)
      noteProject(request, served)
      sdkCalls.note(served.project.id, request.headers)
      return sendUnlessKnown(request, reply, definitions.bodyOf(served, isSent(query.send_cohorts)))
    }
    serveSdkPath(app, ['GET'], path, handler, 'evaluation')
  }

  serveSdkPath(app, ['GET'], '/api/projects/:project_id/feature_flags/:key/remote_config', async (request, reply) => {
    const { project_id, key } = request.params as { project_id: string; key: string }
    const served = await access.toDefinitions(credentialOf(request.headers), queryOf(request).token)
    if (project_id !== '@current' && project_id !== String(served.project.id)) throw missing('Project')
    const payload = remoteConfigPayload(served, key)
    return payload === undefined ? reply.send() : sendJson(reply, payload)
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

  serveBrowserLibrary(app)
  serveSdkPath(app, ['GET'], '/api/surveys', async (_request, reply) =>
    sendJson(reply, JSON.stringify({ surveys: [], survey_config: null })),
  )
  serveSdkPath(app, ['GET'], '/api/early_access_features', async (_request, reply) =>
    sendJson(reply, JSON.stringify({ earlyAccessFeatures: [] })),
  )
}

/** For the access log. */
export const noteProject = (request: FastifyRequest, { project }: ServedProject): void =>
  request.setDecorator('projectId', project.id)

const briefly = { 'cache-control': 'public, max-age=60' }

const isSent = (value: string | undefined): boolean => value !== undefined && value !== 'false' && value !== '0'

/** The response to a GET: without a distinct id there is nothing to evaluate. */
const emptyResponse = ({ token }: Query) => {
  const { token: _token, ...config } = remoteConfig(token ?? '')
  return { errorsWhileComputingFlags: false, flags: {}, featureFlags: {}, ...config, ...olderConfig }
}

const sendJson = (reply: FastifyReply, json: string | Buffer): FastifyReply => reply.type(jsonContentType).send(json)

/** Responds 304 when the client already has this version. */
function sendUnlessKnown(request: FastifyRequest, reply: FastifyReply, body: DefinitionsBody): FastifyReply {
  reply.headers(definitionsHeaders(body))
  return isKnown(request.headers['if-none-match'], body.etag) ? reply.code(304).send() : sendJson(reply, body.json)
}

async function projectOf(snapshots: Snapshots, request: FastifyRequest): Promise<ServedProject> {
  const { token } = request.params as { token: string }
  const served = await snapshots.forToken(token)
  if (!served) throw new Problem('missing', 'No project has this token.')
  return served
}

/** By key or id. As PostHog sends it: the JSON text as a JSON string, or nothing when the flag is off or has no payload. */
function remoteConfigPayload(served: ServedProject, keyOrId: string): string | undefined {
  const { snapshot, flags } = served
  const key =
    snapshot.indexOf(keyOrId) === undefined && /^\d{1,15}$/.test(keyOrId) ? flags.get(Number(keyOrId))?.key : keyOrId
  const index = key === undefined ? undefined : snapshot.indexOf(key)
  if (index === undefined) throw missing('Flag')
  const flag = flags.get(snapshot.flags[index]!.id)!
  const payloads = flag.filters.payloads as Record<string, unknown> | null | undefined
  const payload = flag.active ? payloads?.true : undefined
  if (payload === undefined || payload === null) return undefined
  return JSON.stringify(typeof payload === 'string' ? payload : JSON.stringify(payload))
}
