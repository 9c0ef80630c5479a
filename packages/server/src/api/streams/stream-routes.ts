import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { eventStreamType } from '../../http/routes/event-streams.ts'
import { queryOf } from '../../http/routes/query-of.ts'
import { serveSdkPath } from '../../http/sdk-body/sdk-path.ts'
import { corsHeaders } from '../../http/server/response-headers.ts'
import { Problem } from '../../problem.ts'
import { credentialOf, type SdkAccess } from '../sdk/sdk-access.ts'
import { projectTokenHeader } from '../sdk/sdk-headers.ts'
import type { FollowOptions, Streams } from './streams.ts'

interface Deps {
  readonly access: SdkAccess
  readonly streams: Streams
}

export const evaluationStreamPath = '/ofrep/v1/stream'

export function serveStreams(app: FastifyInstance, { access, streams }: Deps): void {
  serveSdkPath(app, ['GET'], '/api/projects/:project_id/feature_flags/stream', async (request, reply) => {
    const { project_id } = request.params as { project_id: string }
    const { token } = queryOf(request)
    const key = credentialOf(request.headers)
    const served =
      project_id === '@current'
        ? await access.toDefinitions(key, token)
        : await access.toDefinitionsOf(key, Number(project_id))
    const headers = { [projectTokenHeader]: served.project.apiToken }
    return take(request, reply, headers, options => streams.followDefinitions(served.project.id, reply.raw, options))
  })

  // EventSource cannot send headers. The URL carries the public token, which suffices here.
  serveSdkPath(app, ['GET'], evaluationStreamPath, async (request, reply) => {
    const { token } = queryOf(request)
    if (token !== undefined && !token.startsWith('phc_')) {
      throw new Problem('unauthenticated', 'Only a public project token can be sent in the URL.')
    }
    const served = await access.toEvaluation(token ?? credentialOf(request.headers))
    return take(request, reply, {}, options => streams.followEvaluations(served.project.id, reply.raw, options))
  })

  app.addHook('preClose', async () => streams.close())
}

/** The stream takes over the response; HEAD gets its headers only. */
function take(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  follow: (options: FollowOptions) => void,
): FastifyReply {
  const given = request.headers['last-event-id']
  if (request.method === 'HEAD') return reply.type(eventStreamType).headers(headers).send()
  follow({
    lastSeen: typeof given === 'string' && given !== '' ? given : undefined,
    headers: { ...headers, ...corsHeaders, 'x-request-id': request.id },
  })
  return reply.hijack()
}
