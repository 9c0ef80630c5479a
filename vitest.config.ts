import { defineConfig } from 'vitest/config'

/** Resolution and patience that all tests share. */
const shared = {
  resolve: { conditions: ['halyard-source'] },
  ssr: { resolve: { conditions: ['halyard-source', 'node'] } },
}
const patience = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // A poll ends as soon as its condition holds; the patience is for machines that are busy, and costs a quick one nothing.
  expect: { poll: { timeout: 30_000, interval: 25 } },
  // Node itself loads the built program.
  server: { deps: { external: [/packages\/server\/dist\//] } },
}

/**
 * What only `npm run test:all` runs: faults, races, load, hostile peers, all of the dashboard, commands, documents, runtimes, archives. What
 * takes longest goes first, as long as a shorter test of `npm test` shows the same behavior.
 */
const long = [
  'tests/{faults,load,docs,dev,imports}/**/*.test.ts',
  'tests/web/!(smoke).test.ts',
  'tests/clients/{generated,openfeature-parity,openfeature-suites,posthog-python,react,toolbar,client-bursts,client-programs,retrying-clients,shadow}.test.ts',
  'tests/{bench,commands,deploy,install,metrics-port,packages,policy-form,project-import,transfer,upgrade*}.test.ts',
  'tests/security/{fuzz,concurrent-creation,escalation,exported-data,hostile-clients,hostile-edge,large-bodies,lost-access}.test.ts',
  'tests/security/{no-opening-values,text-limits}.test.ts',
  'tests/observability/{telemetry,worker-metrics}.test.ts',
  'tests/edge/{equal-answers,hostile-upstream,outage,process,revoked-edge}.test.ts',
  'tests/program/{plugins,release-archive}.test.ts',
  'packages/server/src/features/plugins/{plugin-faults,runtime/realm-pool,runtime/failing-plugins}.test.ts',
  'packages/server/src/features/change-control/{interleavings,random-policies,requests/concurrent-requests}.test.ts',
  'packages/server/src/features/{events/ingest/ingest-faults,impact/large-properties}.test.ts',
  'packages/server/src/evaluation/subjects/cached-subjects.test.ts',
  'packages/server/src/storage/{anomalies,concurrent-patches}.test.ts',
]

/** What `npm run test:clickhouse` runs: the tests of what is counted, on the ClickHouse that TEST_CLICKHOUSE names. */
const onClickHouse = [
  'tests/clickhouse/**/*.test.ts',
  'packages/server/src/features/events/{usage,ingest}/*.test.ts',
  'packages/server/src/features/dashboards/dashboards.test.ts',
  'packages/server/src/features/rollback/rollback.test.ts',
]
const { TEST_CLICKHOUSE } = process.env

/** Each project is a set of files; `npm test` runs the first two, `npm run test:all` the third. */
export default defineConfig({
  test: {
    globalSetup: [
      'tests/server-bundle.mjs',
      'tests/postgres.ts',
      'tests/sqlite.ts',
      'tests/chromium.ts',
      ...(TEST_CLICKHOUSE ? ['tests/clickhouse/setup.ts'] : []),
    ],
    // Most files wait for servers, databases and browsers of their own: two at a time keep even a small machine busy.
    maxWorkers: 2,
    projects: [
      {
        ...shared,
        test: {
          ...patience,
          name: 'black-box',
          include: ['tests/**/*.test.ts'],
          exclude: [...long, 'tests/clickhouse/**'],
          // Modules, the built server among them, are loaded once per worker instead of once per file.
          isolate: false,
        },
      },
      {
        ...shared,
        test: {
          ...patience,
          name: 'packages',
          include: ['packages/*/src/**/*.test.{ts,tsx}'],
          exclude: long,
          isolate: false,
        },
      },
      {
        ...shared,
        test: { ...patience, name: 'long', include: long },
      },
      ...(TEST_CLICKHOUSE ? [{ ...shared, test: { ...patience, name: 'clickhouse', include: onClickHouse } }] : []),
    ],
  },
})
