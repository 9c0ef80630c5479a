import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import { eventStreamType } from '../../http/routes/event-streams.ts'
import { queryOf } from '../../http/routes/query-of.ts'
import type { StreamGuard } from '../../http/routes/stream-guard.ts'
import { serveSdkPath } from '../../http/sdk-body/sdk-path.ts'
import { corsHeaders } from '../../http/server/response-headers.ts'
import { missing, Problem } from '../../problem.ts'
import { projectTokenHeader } from '../sdk/definitions.ts'
import { credentialOf, type SdkAccess } from '../sdk/sdk-access.ts'
import type { FollowOptions, Streams } from './streams.ts'

interface Deps {
  readonly access: SdkAccess
  readonly streams: Streams
  readonly streamGuard: StreamGuard
}

export const evaluationStreamPath = '/ofrep/v1/stream'

export function serveStreams(app: FastifyInstance, { access, streams, streamGuard }: Deps): void {
  serveSdkPath(app, ['GET'], '/api/projects/:project_id/feature_flags/stream', async (request, reply) => {
    const { project_id } = request.params as { project_id: string }
    const { token } = queryOf(request)
    const key = credentialOf(request.headers)
    const authorize = () =>
      project_id === '@current' ? access.toDefinitions(key, token) : access.toDefinitionsOf(key, project_id)
    const { project } = await authorize()
    const headers = { [projectTokenHeader]: project.apiToken }
    const name = JSON.stringify(['definitions', project.id, project_id, key, token])
    return take(request, reply, headers, options => {
      streams.followDefinitions(project.id, reply.raw, options)
      streamGuard.watch({ response: reply.raw, name, check: sameProject(project.id, authorize) })
    })
  })

  // EventSource cannot send headers. The URL carries the public token, which suffices here.
  serveSdkPath(app, ['GET'], evaluationStreamPath, async (request, reply) => {
    const { token } = queryOf(request)
    if (token !== undefined && !token.startsWith('phc_')) {
      throw new Problem('unauthenticated', 'Only a public project token can be sent in the URL.')
    }
    const key = token ?? credentialOf(request.headers)
    const { project } = await access.toEvaluation(key)
    const name = JSON.stringify(['evaluations', project.id, key])
    return take(request, reply, {}, options => {
      streams.followEvaluations(project.id, reply.raw, options)
      streamGuard.watch({ response: reply.raw, name, check: sameProject(project.id, () => access.toEvaluation(key)) })
    })
  })

  app.addHook('preClose', async () => streams.close())
}

/** A user who switches projects has to open a stream of the other one. */
const sameProject = (projectId: number, authorize: () => Promise<ServedProject>) => async () => {
  const { project } = await authorize()
  if (project.id !== projectId) throw missing('Project')
}

/** The stream takes over the response; HEAD gets its headers only. */
function take(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  follow: (options: FollowOptions) => void,
): FastifyReply {
  const lastEventId = request.headers['last-event-id']
  if (request.method === 'HEAD') return reply.type(eventStreamType).headers(headers).send()
  follow({
    lastSeen: typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined,
    headers: { ...headers, ...corsHeaders, 'x-request-id': request.id },
  })
  return reply.hijack()
}
