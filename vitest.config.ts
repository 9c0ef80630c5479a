import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['halyard-source'] },
  ssr: { resolve: { conditions: ['halyard-source', 'node', 'import', 'default'] } },
  test: {
    include: ['packages/*/src/**/*.test.{ts,tsx}', 'tests/**/*.test.ts'],
    globalSetup: [],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
