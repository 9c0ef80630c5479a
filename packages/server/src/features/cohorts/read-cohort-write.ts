import { type CohortWrite, cohortDescriptionCharactersMax, cohortNameCharactersMax } from '@halyard/contract'
import { isMultipart, readMultipart } from '../../http/routes/multipart.ts'
import { invalid } from '../../problem.ts'
import type { CohortPatch } from './cohort.ts'
import { patchFromWire } from './cohort-resource.ts'
import { type NamedPeople, namedPeople } from './members/members.ts'
import { readPeople } from './members/read-csv.ts'

/** What a request says about a cohort, whether it came as JSON, as a form with a file, or as a bare CSV file. */
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

/** Raises what is wrong with the body. */
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

/** The same of a request that names people and nothing else: whatever more is in it has not been checked. */
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
  if (!file && !fields.has('csv')) throw invalid('csv', 'required', 'Send the file as the field csv.')
  const people = await readPeople(file ?? Buffer.from(fields.get('csv') as string))
  const isStatic = fields.get('is_static') ?? 'true'
  if (!/^(true|1)$/i.test(isStatic)) {
    throw invalid('is_static', 'invalid_input', 'A cohort that is made from a list of people is static.')
  }
  const patch = patchFromWire({
    ...(name !== undefined && { name: checked('name', name, cohortNameCharactersMax) }),
    ...(description !== undefined && {
      description: checked('description', description, cohortDescriptionCharactersMax),
    }),
  })
  return { patch, people, isStatic: true, version: undefined }
}

/** What the schema of the JSON body would have said. */
function checked(field: string, text: string, charactersMax: number): string {
  if ([...text].length > charactersMax) throw invalid(field, 'max_length', `Use at most ${charactersMax} characters.`)
  if (text.includes('\u0000') || !text.isWellFormed()) {
    throw invalid(field, 'invalid_input', 'This field holds characters that cannot be stored.')
  }
  return text
}
