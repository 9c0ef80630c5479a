import type { ResponseShape } from './serialize-flags-response.ts'

/** The options in the URL of an evaluation request. */
export interface EvaluationUrl {
  readonly endpoint: EvaluationEndpoint
  readonly query: Query
  readonly shape: ResponseShape
  /** Which configuration of posthog-js is included. */
  readonly config: 'none' | 'current' | 'older'
}

export type EvaluationEndpoint = 'flags' | 'decide'
type Query = Readonly<Record<string, string | undefined>>

export function evaluationUrl(endpoint: EvaluationEndpoint, query: Query): EvaluationUrl {
  const version = /^\d+$/.test(query.v ?? '') ? Number(query.v) : undefined
  if (endpoint === 'decide') {
    const shapes: Record<number, ResponseShape> = { 2: 'enabled_values', 3: 'values' }
    const shape = version === undefined || version < 2 ? 'enabled_keys' : (shapes[version] ?? 'details')
    return { endpoint, query, shape, config: 'older' }
  }
  const isBare = query.v === undefined && query.config === undefined
  const hasConfig = isBare || isTrue(query.config)
  return { endpoint, query, shape: version === 1 ? 'values' : 'details', config: hasConfig ? 'current' : 'none' }
}

export const isTrue = (text: string | undefined): boolean => text === 'true' || text === '1' || text === ''

const usual = evaluationUrl('flags', { v: '2' })
const pattern = /^\/(flags|decide)\/?(?:\?([^#]*))?$/
/** Parameters that SDKs send, with values that need no decoding. */
const parameter = /^(v|config|ip|_|ver|compression)=([\w.-]*)$/

/** Undefined for other URLs, and for those that only the router can parse. */
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
