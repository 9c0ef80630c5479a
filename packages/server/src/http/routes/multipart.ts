import { Problem } from '../../problem.ts'

/** A form as browsers send files: fields by name, files as bytes. */
export interface Form {
  readonly fields: ReadonlyMap<string, string>
  readonly files: ReadonlyMap<string, Buffer>
}

const partsMax = 100
const lineBreak = '\r\n'

export const isMultipart = (contentType: string | undefined): boolean =>
  /^multipart\/form-data\s*(;|$)/i.test(contentType ?? '')

/** Reads `multipart/form-data` (RFC 7578). Raises `unparsable`. */
export function readMultipart(raw: Buffer | undefined, contentType: string | undefined): Form {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType ?? '') ?? []
  const boundary = quoted ?? plain
  if (!boundary || !raw) throw unreadable()
  const fields = new Map<string, string>()
  const files = new Map<string, Buffer>()
  for (const part of partsOf(raw, boundary)) {
    const end = part.indexOf(lineBreak + lineBreak)
    if (end === -1) throw unreadable()
    const { name, isFile } = readDisposition(part.toString('utf8', 0, end))
    const content = part.subarray(end + 2 * lineBreak.length)
    if (isFile) files.set(name, content)
    else fields.set(name, content.toString('utf8'))
  }
  return { fields, files }
}

function partsOf(raw: Buffer, boundary: string): Buffer[] {
  // The first boundary may stand at the very beginning, without a line break before it.
  const text = Buffer.concat([Buffer.from(lineBreak), raw])
  const delimiter = Buffer.from(`${lineBreak}--${boundary}`)
  const parts: Buffer[] = []
  let start = text.indexOf(delimiter)
  if (start === -1) throw unreadable()
  for (;;) {
    start += delimiter.length
    if (text.toString('latin1', start, start + 2) === '--') return parts
    const next = text.indexOf(delimiter, start)
    if (next === -1 || parts.length >= partsMax) throw unreadable()
    parts.push(text.subarray(start + lineBreak.length, next))
    start = next
  }
}

function readDisposition(headers: string): { name: string; isFile: boolean } {
  const line = headers.split(lineBreak).find(header => /^content-disposition\s*:/i.test(header))
  const name = /[;\s]name="((?:[^"\\]|\\.)*)"/i.exec(line ?? '')?.[1] ?? /[;\s]name=([^\s;"]+)/i.exec(line ?? '')?.[1]
  if (name === undefined) throw unreadable()
  return { name: name.replace(/\\(.)/g, '$1'), isFile: /[;\s]filename\*?=/i.test(line ?? '') }
}

const unreadable = (): Problem => new Problem('unparsable', 'The form is not valid multipart/form-data.')
