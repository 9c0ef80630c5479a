import type { Route } from '@halyard/contract'
import type { FastifyRequest } from 'fastify'
import type { Origin } from '../../origin.ts'
import type { ActorKey } from '../../tenancy.ts'
import { headerText } from './header-text.ts'

const noteCharactersMax = 2000

const credentialKind = ({ access }: Route, { isSession }: ActorKey) => {
  if (access.kind === 'scim') return 'scim_token'
  return isSession ? 'session' : 'personal_api_key'
}

/** What the audit log holds about a request. A token in the path is a secret. */
export function requestOrigin(route: Route, request: FastifyRequest, key: ActorKey | undefined): Origin {
  const { token: _token, ...path } = request.params as Record<string, string>
  const note = request.headers['x-halyard-note']
  return {
    operation: route.operationId,
    path,
    credential: key
      ? { kind: credentialKind(route, key), id: key.id, label: key.label }
      : { kind: 'none', id: null, label: null },
    address: request.ip,
    requestId: request.id,
    note: note === undefined ? null : headerText(note).slice(0, noteCharactersMax).toWellFormed() || null,
    isRecorded: false,
  }
}
