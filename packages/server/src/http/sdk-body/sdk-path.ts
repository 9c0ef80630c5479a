import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { queryOf } from '../routes/query-of.ts'
import { corsHeaders, preflightHeaders } from '../server/response-headers.ts'
import { bodyMemoryOf } from './receive-body.ts'
import { evaluationBodyBytesMax, eventBodyBytesMax, readSdkBody, readSdkBodySync, type SdkBody } from './sdk-body.ts'

export type SdkMethod = 'GET' | 'POST'

/** `evaluation`: requests so frequent that the access log has a setting for them, with small bodies. */
export type SdkPathKind = 'evaluation' | 'other'

/** Serves a path of the SDKs: open to every origin, errors included, with the response to the browser's preflight. */
export function serveSdkPath(
  app: FastifyInstance,
  methods: readonly SdkMethod[],
  path: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> | undefined,
  kind: SdkPathKind = 'other',
): void {
  const onRequest = async (_request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(corsHeaders)
  }
  const config = kind === 'evaluation' ? { isEvaluation: true, bodyBytesMax: evaluationBodyBytesMax } : {}
  app.route({ method: [...methods], url: path, onRequest, handler, config })
  app.route({
    method: 'OPTIONS',
    url: path,
    onRequest,
    handler: async (_request, reply) => reply.headers(preflightHeaders).code(204).send(),
  })
}

/** The JSON value that the request carries, within the limit of its route. */
export function readBodyOf(request: FastifyRequest): Promise<unknown> {
  const { bodyBytesMax } = request.routeOptions.config
  return readSdkBody(sentIn(request), bodyMemoryOf(request), bodyBytesMax ?? eventBodyBytesMax)
}

/** The synchronous attempt of `readBodyOf`: undefined when it takes more. */
export const readBodySyncOf = (request: FastifyRequest): unknown =>
  readSdkBodySync(sentIn(request), bodyMemoryOf(request).countInflate)

const sentIn = (request: FastifyRequest): SdkBody => ({
  bytes: request.body as Buffer | undefined,
  contentType: request.headers['content-type'],
  contentEncoding: request.headers['content-encoding'],
  compression: queryOf(request).compression,
})
