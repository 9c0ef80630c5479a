/** Headers that every response carries, on the ordinary path and on the fast path. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
} as const

/** Any website may call the SDK paths: they carry a public token and no cookie. */
export const corsHeaders = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' }

/** Sent by pages with signed values of flags; the response has what became of them. */
export const overridesHeader = 'x-halyard-overrides'

export const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': `authorization, content-encoding, content-type, if-none-match, x-api-key, ${overridesHeader}, x-posthog-token, x-requested-with`,
  'access-control-max-age': '86400',
}

export const jsonContentType = 'application/json; charset=utf-8'

export const responseHeaders = (requestId: string): Readonly<Record<string, string>> => ({
  'x-request-id': requestId,
  ...securityHeaders,
})

/** The request id of a client or proxy is retained, so that logs can be joined, when it is harmless text. */
export const acceptableRequestId = (id: string | string[] | undefined): string | undefined =>
  typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : undefined
