/** The packages that applications install, each after those that it depends on. */
export const publishedPackages = [
  'engine',
  'contract',
  'client',
  'openfeature-server',
  'openfeature-web',
  'react',
  'test-kit',
  'ofrep-conformance',
]
