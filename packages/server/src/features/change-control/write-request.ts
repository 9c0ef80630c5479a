import type { WriteRequest } from '../../domain/authorization.ts'
import type { DirectPermit, Emergency, Requester } from '../../domain/permit.ts'
import { headerText } from '../../http/routes/header-text.ts'
import { invalid } from '../../problem.ts'
import { type Actor, ownerLevel } from '../../tenancy.ts'

/** Raises `invalid` for headers that cannot be read. */
export const permitOf = ({ actor, headers }: WriteRequest): DirectPermit => ({
  kind: 'direct',
  requester: requesterOf(actor),
  emergency: readEmergency(actor, headers['x-halyard-emergency']),
  note: readNote(headers['x-halyard-note']),
})

export const requesterOf = ({ user, key, origin }: Pick<Actor, 'user' | 'key' | 'origin'>): Requester => ({
  user,
  keyLabel: key.label,
  isByKey: !key.isSession,
  origin,
})

const emergencyCharactersMax = 1000
const noteCharactersMax = 2000

function readEmergency({ levels }: Actor, header: string | string[] | undefined): Emergency | null {
  if (header === undefined) return null
  const reason = headerText(header)
  if (reason === '' || reason.length > emergencyCharactersMax) {
    throw invalid(
      'X-Halyard-Emergency',
      'invalid_input',
      `X-Halyard-Emergency must be a reason of 1 to ${emergencyCharactersMax} characters.`,
    )
  }
  return { reason, organizationIds: new Set([...levels].flatMap(([id, level]) => (level >= ownerLevel ? [id] : []))) }
}

/** Undefined when the header is absent or empty. */
function readNote(header: string | string[] | undefined): string | undefined {
  const note = header === undefined ? '' : headerText(header)
  if (note.length > noteCharactersMax) {
    throw invalid('X-Halyard-Note', 'max_length', `X-Halyard-Note can have at most ${noteCharactersMax} characters.`)
  }
  return note === '' ? undefined : note
}
