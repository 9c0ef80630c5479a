import type { FastifyReply, FastifyRequest } from 'fastify'
import { problemResponse } from './problem-response.ts'

/** Errors in the shape of OAuth 2.0 (RFC 6749, 5.2). */
export function sendOAuthProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = problemResponse(error)
  if (status === 500) request.log.error({ err: error }, 'request failed')
  return reply.code(status).headers(headers).send({ error: body.code, error_description: body.detail })
}
