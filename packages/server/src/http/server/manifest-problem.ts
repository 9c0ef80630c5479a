import type { FastifyReply, FastifyRequest } from 'fastify'
import { problemResponse } from './problem-response.ts'

/** Errors in the shape of the OpenFeature CLI's manifest API. */
export function sendManifestProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = problemResponse(error)
  if (status === 500) request.log.error({ err: error }, 'request failed')
  const { detail: message, attr: field, code } = body
  const details = field === null ? undefined : [{ field, code, message }]
  return reply
    .code(status)
    .headers(headers)
    .send({ error: { message, status, ...(details && { details }) } })
}
