import { defineConfig } from 'vitest/config'
import { shared } from './vitest.config.ts'

/**
 * `npm run test:quick`: the tests beside the sources on SQLite only, without suites that need PostgreSQL, start threads or compilers, or run long by design.
 * It is a first answer, not a replacement for `npm test`.
 */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    globalSetup: ['tests/sqlite.ts'],
    maxWorkers: 2,
    include: ['packages/*/src/**/*.test.{ts,tsx}'],
    exclude: [
      'packages/server/src/storage/postgres/**',
      'packages/server/src/storage/prepared-query.test.ts',
      'packages/server/src/storage/concurrent-patches.test.ts',
      'packages/server/src/storage/anomalies.test.ts',
      'packages/server/src/evaluation/lookup-timeout.test.ts',
      'packages/server/src/features/flag-bulk/lock-order.test.ts',
      'packages/server/src/features/identity/sign-in/{login-throttle,password}.test.ts',
      'packages/server/src/sandbox/**',
      'packages/server/src/jobs/**',
      'packages/server/src/features/approvals/{approvals,gate,interleavings}.test.ts',
      'packages/server/src/features/cohorts/**',
      'packages/server/src/features/emails/**',
      'packages/server/src/features/impact/**',
      'packages/server/src/features/plugins/**',
      'packages/server/src/features/rollback/**',
      'packages/server/src/features/schedules/**',
      'packages/server/src/features/typed-flags/payload-schema.test.ts',
      'packages/server/src/features/webhooks/**',
      'packages/server/src/cli/types/generate-types.test.ts',
      '**/*-faults.test.ts',
      '**/outage.test.ts',
      'packages/server/src/observability/evaluation-visibility.test.ts',
      'packages/server/src/overload/load-shedder.test.ts',
      'packages/server/src/evaluation/warm-up.test.ts',
      'packages/server/src/fast-path/flags-response-template.test.ts',
      'packages/engine/src/properties.test.ts',
      'packages/engine/src/explain/reachable-values.test.ts',
      'packages/engine/src/evaluate/{batch,custom-bucketing,result-cache}.test.ts',
      'packages/engine/src/**/*differential.test.ts',
      'packages/engine/src/without-wasm.test.ts',
      'packages/engine/src/compile/match/regex.test.ts',
    ],
    // The server's modules are loaded once per worker instead of once per file.
    isolate: false,
    // Compiled modules are kept in node_modules from one run to the next.
    experimental: { fsModuleCache: true },
  },
})
