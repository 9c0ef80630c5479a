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

export const jsonContentType = 'application/json; charset=utf-8'

export const responseHeaders = (requestId: string): Readonly<Record<string, string>> => ({
  'x-request-id': requestId,
  ...securityHeaders,
})

/** The request id of a client or proxy is retained, so that logs can be joined, when it is harmless text. */
export const acceptableRequestId = (id: string | string[] | undefined): string | undefined =>
  typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : undefined
