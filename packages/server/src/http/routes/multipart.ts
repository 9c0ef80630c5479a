import createBusboy, { type Busboy, type BusboyConfig } from 'busboy'
import { Problem } from '../../problem.ts'

/** A `multipart/form-data` body: fields by name, files as bytes. Of parts with the same name the last one counts. */
export interface Form {
  readonly fields: ReadonlyMap<string, string>
  readonly files: ReadonlyMap<string, Buffer>
}

const partsMax = 100
const nameCharactersMax = 200
const headerPairsMax = 20

export const isMultipart = (contentType: string | undefined): boolean =>
  /^multipart\/form-data\s*(;|$)/i.test(contentType ?? '')

/** Parses a body that is already in memory and bounded there (RFC 7578). Raises `unparsable`. */
export async function readMultipart(raw: Buffer | undefined, contentType: string | undefined): Promise<Form> {
  if (!raw || contentType === undefined) throw unparsable('The body is empty.')
  const fields = new Map<string, string>()
  const files = new Map<string, Buffer>()
  await new Promise<void>((resolve, reject) => {
    const parser: Busboy = createBusboy(settingsFor(contentType, raw.length))
    parser.on('field', (name, value) => {
      if (isName(name)) fields.set(name, value)
      else reject(unparsable('A part has no valid name.'))
    })
    parser.on('file', (name, stream) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', reject)
      stream.on('end', () => {
        if (isName(name)) files.set(name, Buffer.concat(chunks))
        else reject(unparsable('A part has no valid name.'))
      })
    })
    parser.on('partsLimit', () => reject(unparsable(`It has more than ${partsMax} parts.`)))
    parser.on('error', reject)
    parser.on('close', resolve)
    parser.end(raw)
  }).catch(error => {
    throw error instanceof Problem ? error : unparsable(`${(error as Error).message}.`)
  })
  return { fields, files }
}

/** The library passes undefined for a part without a name, unlike its types. */
const isName = (name: string | undefined): name is string => name !== undefined && name.length <= nameCharactersMax

function settingsFor(contentType: string, bytesMax: number): BusboyConfig {
  return {
    headers: { 'content-type': contentType },
    defParamCharset: 'utf8',
    limits: {
      parts: partsMax,
      headerPairs: headerPairsMax,
      // The body as a whole is bounded, so no single part needs a lower bound.
      fieldSize: bytesMax,
      fileSize: bytesMax,
    },
  }
}

const unparsable = (reason: string): Problem =>
  new Problem('unparsable', `The form is not valid multipart/form-data: ${reason}`)
