import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Evaluator } from '../../evaluation/evaluator.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import {
  exposedHeaders,
  type Overridden,
  overridesHeaders,
  type RequestOverrides,
} from '../../evaluation/request-overrides.ts'
import type { Runtime } from '../../evaluation/request-runtime.ts'
import type { IdentifiedRequest } from '../../evaluation/subjects/gather-subject.ts'
import type { SdkCalls } from '../../features/sdk-usage/sdk-calls.ts'
import { readBodyOf, serveSdkPath } from '../../http/sdk-body/sdk-path.ts'
import { problemResponse } from '../../http/server/problem-response.ts'
import { spanOf } from '../../observability/telemetry/trace-requests.ts'
import { Problem } from '../../problem.ts'
import { isKnown } from '../sdk/etag.ts'
import type { EvaluationCounts } from '../sdk/evaluation-counts.ts'
import { createFlagFragments } from '../sdk/flag-fragments.ts'
import { credentialOf, type SdkAccess } from '../sdk/sdk-access.ts'
import { noteProject } from '../sdk/sdk-routes.ts'
import { traceEvaluation } from '../sdk/trace-evaluation.ts'
import { evaluationStreamPath } from '../streams/stream-routes.ts'
import { OfrepError, readOfrepRequest } from './ofrep-request.ts'
import { ofrepFlag } from './ofrep-response.ts'

interface Deps {
  readonly access: SdkAccess
  readonly evaluator: Evaluator
  readonly counts: EvaluationCounts
  readonly sdkCalls: Pick<SdkCalls, 'note'>
  readonly overrides: RequestOverrides
}

/** A browser whose stream is inactive for this long may close it and poll. */
const inactivityDelaySeconds = 120

/** OpenFeature Remote Evaluation Protocol 0.3, for every OpenFeature client. */
export function serveOfrep(app: FastifyInstance, { access, evaluator, counts, sdkCalls, overrides }: Deps): void {
  const fragmentsOf = createFlagFragments({ flag: (flag, outcome) => `${JSON.stringify(ofrepFlag(flag, outcome))},` })

  async function open(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Overridden & { ofrepRequest: IdentifiedRequest }> {
    const key = credentialOf(request.headers)
    const overridden = overrides.apply(await access.toEvaluation(key), request.headers)
    noteProject(request, overridden.served)
    sdkCalls.note(overridden.served.project.id, request.headers)
    reply.headers(overridesHeaders(overridden.overrides))
    return { ...overridden, ofrepRequest: readOfrepRequest(await jsonOf(request), runtimeOf(request, key)) }
  }

  const evaluateAll = (request: FastifyRequest, reply: FastifyReply) =>
    responding(reply, undefined, async () => {
      const { served, overrides: status, ofrepRequest } = await open(request, reply)
      const evaluation = await evaluator.evaluate(served, ofrepRequest, { withInactive: true })
      const { outcomes, eligible } = evaluation
      if (status !== 'applied') counts.add(eligible.length)
      traceEvaluation(spanOf(request), served, evaluation)
      const json = listOf(fragmentsOf('flag', served.snapshot.flags, outcomes, eligible), served.project)
      // The ETag of the results, not of the definitions: another context gives other results for the same definitions.
      const etag = `W/"${createHash('sha1').update(json).digest('base64url')}"`
      reply.headers({ etag, 'cache-control': 'private, no-cache' })
      return isKnown(request.headers['if-none-match'], etag) ? reply.code(304).send() : send(reply, 200, json)
    })

  const evaluateOne = (request: FastifyRequest, reply: FastifyReply) => {
    const key = (request.params as { '*': string })['*'].replace(/\/$/, '')
    return responding(reply, key, async () => {
      const { served, overrides: status, ofrepRequest } = await open(request, reply)
      const index = served.snapshot.indexOf(key)
      const only = { ...ofrepRequest, keys: [key] }
      const evaluation = await evaluator.evaluate(served, only, { withInactive: true })
      const { outcomes, eligible } = evaluation
      if (status !== 'applied') counts.add(1)
      traceEvaluation(spanOf(request), served, evaluation)
      const flag =
        index !== undefined && eligible.includes(index) && serializeFlag(served, index, outcomes.outcomeIndex(index))
      if (!flag) throw new OfrepError(404, 'FLAG_NOT_FOUND', 'There is no flag with this key.')
      return send(reply, 'errorCode' in flag ? 500 : 200, JSON.stringify(flag))
    })
  }

  serveSdkPath(app, ['POST'], '/ofrep/v1/evaluate/flags', evaluateAll, 'evaluation')
  serveSdkPath(app, ['POST'], '/ofrep/v1/evaluate/flags/*', evaluateOne, 'evaluation')
}

/** The response for all flags. */
function listOf(fragments: readonly Buffer[], { id, apiToken }: ServedProject['project']): Buffer {
  const requestUri = `${evaluationStreamPath}?token=${apiToken}`
  const eventStreams = [{ type: 'sse', endpoint: { requestUri }, inactivityDelaySec: inactivityDelaySeconds }]
  const rest = JSON.stringify({ eventStreams, metadata: { flagSetId: String(id) } }).slice(1)
  const flags = Buffer.concat(fragments)
  // Without the comma of the last fragment.
  return Buffer.concat([Buffer.from('{"flags":['), flags.subarray(0, -1), Buffer.from(`],${rest}`)])
}

function serializeFlag(
  served: ServedProject,
  index: number,
  outcomeIndex: number,
): Record<string, unknown> | undefined {
  const compiled = served.snapshot.flags[index]!
  const outcome = compiled.outcomes[outcomeIndex]
  return outcome && ofrepFlag(compiled, outcome)
}

/** Browsers have the public token; a client with a secret key runs on a server. */
function runtimeOf({ headers }: FastifyRequest, key: string | undefined): Runtime {
  const isBrowser = headers.origin !== undefined || /^mozilla/i.test(headers['user-agent'] ?? '')
  return key?.startsWith('phc_') && isBrowser ? 'client' : 'server'
}

async function jsonOf(request: FastifyRequest): Promise<unknown> {
  try {
    return await readBodyOf(request)
  } catch (error) {
    if (error instanceof Problem && error.kind === 'unparsable') throw new OfrepError(400, 'PARSE_ERROR', error.message)
    throw error
  }
}

/** Errors in the shape of OFREP: clients expect a key and an errorCode. */
async function responding(
  reply: FastifyReply,
  key: string | undefined,
  work: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  reply.header('access-control-expose-headers', exposedHeaders)
  try {
    return await work()
  } catch (error) {
    const { status, code, message, headers } = error instanceof OfrepError ? error : fromProblem(error, reply)
    const body = { ...(key !== undefined && { key }), errorCode: code, errorDetails: message }
    return send(reply.headers(headers), status, JSON.stringify(body))
  }
}

function fromProblem(error: unknown, reply: FastifyReply): OfrepError {
  const { status, headers, body } = problemResponse(error)
  if (status === 500) reply.log.error({ err: error }, 'request failed')
  return new OfrepError(status, 'GENERAL', body.detail, headers)
}

const send = (reply: FastifyReply, status: number, json: string | Buffer): FastifyReply =>
  reply.code(status).type('application/json; charset=utf-8').send(json)
