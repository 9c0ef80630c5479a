import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { queryOf } from '../routes/query-of.ts'
import { roomFor } from './receive-body.ts'
import { readSdkBody, type SdkBody } from './sdk-body.ts'

export type SdkMethod = 'GET' | 'POST'

/** Pages on any site may call the SDK paths: they carry a public token and no cookie. */
export const corsHeaders = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }
const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers':
    'authorization, content-encoding, content-type, if-none-match, x-api-key, x-posthog-token, x-requested-with',
  'access-control-max-age': '86400',
}

/** Serves a path of the client libraries: open to every origin, errors included, with the answer to the browser's preflight. */
export function serveSdkPath(
  app: FastifyInstance,
  methods: readonly SdkMethod[],
  path: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  const onRequest = async (_request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(corsHeaders)
  }
  app.route({ method: [...methods], url: path, onRequest, handler })
  app.route({
    method: 'OPTIONS',
    url: path,
    onRequest,
    handler: async (_request, reply) => reply.headers(preflightHeaders).code(204).send(),
  })
}

/** What the request carries, for `readSdkBody`. */
export function sdkBodyOf(request: FastifyRequest): SdkBody {
  return {
    bytes: request.body as Buffer | undefined,
    contentType: request.headers['content-type'],
    contentEncoding: request.headers['content-encoding'],
    compression: queryOf(request).compression,
  }
}

export const readBodyOf = (request: FastifyRequest): Promise<unknown> =>
  readSdkBody(sdkBodyOf(request), roomFor(request))
