import { type ScimError, scimErrorSchema } from '@halyard/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { problemResponse } from './problem-response.ts'

/** The values of `scimType` in RFC 7644, section 3.12. */
const scimTypes = new Set([
  'invalidFilter',
  'tooMany',
  'uniqueness',
  'mutability',
  'invalidSyntax',
  'invalidPath',
  'noTarget',
  'invalidValue',
])

/** Below this path every error has SCIM's shape, also of URLs that do not exist. */
export const scimPath = '/scim/v2/'

/** Errors in the shape of RFC 7644, section 3.12. A value that is taken is a conflict there. */
export function sendScimProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body } = problemResponse(error)
  if (status === 500) request.log.error({ err: error }, 'request failed')
  const scimType = scimTypeOf(body.type, body.code)
  const code = scimType === 'uniqueness' ? 409 : status
  const attribute = body.attr?.replaceAll('__', '.')
  const isNamed = attribute === undefined || body.detail.includes(attribute)
  const response: ScimError = {
    schemas: [scimErrorSchema],
    status: String(code),
    ...(scimType !== undefined && { scimType }),
    detail: isNamed ? body.detail : `\`${attribute}\`: ${body.detail}`,
  }
  return reply.code(code).headers(headers).type('application/scim+json').send(JSON.stringify(response))
}

function scimTypeOf(type: string, code: string): string | undefined {
  if (scimTypes.has(code)) return code
  if (code === 'unique') return 'uniqueness'
  if (code === 'parse_error') return 'invalidSyntax'
  return type === 'validation_error' ? 'invalidValue' : undefined
}
