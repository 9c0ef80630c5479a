import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['halyard-source'] },
  ssr: { resolve: { conditions: ['halyard-source', 'node'] } },
  test: {
    include: ['packages/*/src/**/*.test.{ts,tsx}', 'tests/**/*.test.ts'],
    globalSetup: ['tests/postgres.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
