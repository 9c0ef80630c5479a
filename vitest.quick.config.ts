import { defineConfig } from 'vitest/config'
import everything from './vitest.config.ts'

/** `npm run test:quick`: everything beside the sources, on SQLite only, except suites that need PostgreSQL or run long by design. */
export default defineConfig({
  ...everything,
  test: {
    ...everything.test,
    include: ['packages/*/src/**/*.test.{ts,tsx}'],
    exclude: [
      'packages/server/src/storage/postgres/**',
      'packages/server/src/storage/prepared-query.test.ts',
      'packages/server/src/features/impact/**',
    ],
    globalSetup: [],
  },
})
