import { type CohortWrite, cohortDescriptionCharactersMax, cohortNameCharactersMax } from '@halyard/contract'
import type { CohortPatch } from '../../domain/cohort.ts'
import { isMultipart, readMultipart } from '../../http/routes/multipart.ts'
import { isOneLine } from '../../http/routes/one-line.ts'
import { invalid } from '../../problem.ts'
import { patchFromWire } from './cohort-resource.ts'
import { type NamedPeople, namedPeople } from './members/members.ts'
import { readPeople } from './members/read-csv.ts'

/** The content of a request to write a cohort, sent as JSON, as a form with a file, or as a CSV file. */
export interface SentCohort {
  readonly patch: CohortPatch
  readonly people: NamedPeople
  readonly isStatic: boolean | undefined
  readonly version: number | undefined
}

interface Sent {
  readonly headers: { readonly 'content-type'?: string | undefined }
  readonly raw: Buffer | undefined
  readonly body: CohortWrite
  readonly query?: { readonly name?: string }
}

type CohortMembers = Pick<CohortWrite, 'distinct_ids' | 'person_ids'>

const isCsv = (contentType: string | undefined): boolean => /^text\/(csv|plain)\s*(;|$)/i.test(contentType ?? '')

/** Throws `invalid` for an invalid body. */
export async function readCohortWrite(request: Sent): Promise<SentCohort> {
  const type = request.headers['content-type']
  if (isMultipart(type)) return readForm(request.raw, type)
  if (isCsv(type)) {
    const { name } = request.query ?? {}
    const patch = patchFromWire(name === undefined ? {} : { name: checked('name', name, cohortNameCharactersMax) })
    return { patch, people: await readPeople(request.raw ?? Buffer.alloc(0)), isStatic: true, version: undefined }
  }
  const { body } = request
  return {
    patch: patchFromWire(body),
    people: namedPeople(body.distinct_ids, body.person_ids),
    isStatic: body.is_static,
    version: body.version,
  }
}

/** Reads only the members of a request; other fields are not validated. */
export async function readMembers(
  request: Omit<Sent, 'body'> & { readonly body: CohortMembers },
): Promise<NamedPeople> {
  const type = request.headers['content-type']
  if (isMultipart(type)) return (await readForm(request.raw, type)).people
  if (isCsv(type)) return readPeople(request.raw ?? Buffer.alloc(0))
  return namedPeople(request.body.distinct_ids, request.body.person_ids)
}

async function readForm(raw: Buffer | undefined, type: string | undefined): Promise<SentCohort> {
  const { fields, files } = await readMultipart(raw, type)
  const file = files.get('csv') ?? files.get('file') ?? [...files.values()][0]
  const [name, description] = [fields.get('name'), fields.get('description')]
  if (!file && !fields.has('csv')) throw invalid('csv', 'required', 'csv is required: send the file in this field.')
  const people = await readPeople(file ?? Buffer.from(fields.get('csv') as string))
  const isStatic = fields.get('is_static') ?? 'true'
  if (!/^(true|1)$/i.test(isStatic)) {
    throw invalid('is_static', 'invalid_input', 'is_static must be true for a cohort with listed members.')
  }
  const patch = patchFromWire({
    ...(name !== undefined && { name: checked('name', name, cohortNameCharactersMax) }),
    ...(description !== undefined && {
      description: checked('description', description, cohortDescriptionCharactersMax),
    }),
  })
  return { patch, people, isStatic: true, version: undefined }
}

/** Applies the limits of the JSON schema to a form or query field. */
function checked(field: 'name' | 'description', text: string, charactersMax: number): string {
  if ([...text].length > charactersMax)
    throw invalid(field, 'max_length', `${field} can have at most ${charactersMax} characters.`)
  if (text.includes('\u0000') || !text.isWellFormed()) {
    throw invalid(field, 'invalid_input', `${field} contains characters that cannot be stored.`)
  }
  if (field === 'name' && !isOneLine(text)) {
    throw invalid(field, 'invalid_input', 'Use one line without control characters.')
  }
  return text
}
