import type { AnswerShape } from '../api/sdk/serialize-flags-response.ts'

/** What the address of a request to evaluate says, as the client libraries make it. */
export interface EvaluationUrl {
  readonly query: Query
  /** How the answer is told. */
  readonly shape: AnswerShape
  /** Which configuration of the browser library comes with it. */
  readonly config: 'none' | 'current' | 'older'
}

export type EvaluationEndpoint = 'flags' | 'decide'
type Query = Readonly<Record<string, string | undefined>>

export function evaluationUrl(endpoint: EvaluationEndpoint, query: Query): EvaluationUrl {
  const version = /^\d+$/.test(query.v ?? '') ? Number(query.v) : undefined
  if (endpoint === 'decide') {
    const shapes: Record<number, AnswerShape> = { 2: 'enabled_values', 3: 'values' }
    const shape = version === undefined || version < 2 ? 'enabled_keys' : (shapes[version] ?? 'details')
    return { query, shape, config: 'older' }
  }
  const isBare = query.v === undefined && query.config === undefined
  const hasConfig = isBare || isTrue(query.config)
  return { query, shape: version === 1 ? 'values' : 'details', config: hasConfig ? 'current' : 'none' }
}

export const isTrue = (text: string | undefined): boolean => text === 'true' || text === '1' || text === ''

const usual = evaluationUrl('flags', { v: '2' })
const pattern = /^\/(flags|decide)\/?(?:\?([^#]*))?$/
/** What the libraries put into addresses, in values that need no decoding. */
const parameter = /^(v|config|ip|_|ver|compression)=([\w.-]*)$/

/** Reads the address of such a request. Undefined means that it is another one, or one that the router shall read. */
export function parseEvaluationUrl(url: string): EvaluationUrl | undefined {
  if (url === '/flags/?v=2' || url === '/flags?v=2') return usual
  const [, endpoint, text = ''] = pattern.exec(url) ?? []
  if (endpoint === undefined) return undefined
  const query: Record<string, string> = {}
  for (const part of text === '' ? [] : text.split('&')) {
    const [, name, value] = parameter.exec(part) ?? []
    if (name === undefined || query[name] !== undefined) return undefined
    query[name] = value!
  }
  return evaluationUrl(endpoint as EvaluationEndpoint, query)
}
