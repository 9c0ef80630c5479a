/** The head of a request with nothing unusual in it. */
export interface RequestHead {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Names in lower case, each once. */
  readonly headers: Readonly<Record<string, string>>
  readonly bodyBytes: number
}

/**
 * Parses the head of a request, without the empty line that ends it. Undefined means that Node's parser has to decide; it need not be
 * wrong. What is parsed here means the same to Node's parser, which a property test checks.
 */
export type ReadRequestHead = (text: string) => RequestHead | undefined

const requestLine = /^(GET|POST) (\/[!-~]*) HTTP\/1\.1$/
/** No folded lines, no spaces around names, no control characters. */
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?[ \t]*$/
const lengthPattern = /^[0-9]{1,8}$/

/** Fields that change the framing or the response, and those that Node parses in a special way. */
const unusual = new Set([
  '__proto__',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export function parseRequestHead(text: string): RequestHead | undefined {
  const lines = text.split('\r\n')
  const [, method, url] = requestLine.exec(lines[0]!) ?? []
  const headers = url === undefined ? undefined : readHeaders(lines)
  if (headers === undefined || headers.host === undefined) return undefined
  const length = headers['content-length']
  if (method === 'GET') return length === undefined ? { method, url: url!, headers, bodyBytes: 0 } : undefined
  if (length === undefined || !lengthPattern.test(length)) return undefined
  return { method: 'POST', url: url!, headers, bodyBytes: Number(length) }
}

function readHeaders(lines: readonly string[]): Record<string, string> | undefined {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 1; index < lines.length; index++) {
    const [, name, value = ''] = headerLine.exec(lines[index]!) ?? []
    if (name === undefined) return undefined
    const key = name.toLowerCase()
    if (unusual.has(key) || headers[key] !== undefined) return undefined
    if (key === 'connection' && value.toLowerCase() !== 'keep-alive') return undefined
    headers[key] = value
  }
  return headers
}
