/** Headers of definitions, on top of those that every response carries. */
export const definitionsHeaders = (etag: string): Readonly<Record<string, string>> => ({
  etag,
  'cache-control': 'private, must-revalidate',
  'access-control-expose-headers': 'ETag',
})
