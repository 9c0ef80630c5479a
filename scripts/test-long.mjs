// `npm run test:faults` and `npm run test:load`: the same tests as in `npm run test:all`, for as long as it takes to believe them.
import { say } from './prepare.mjs'

const lengths = {
  faults: {
    HALYARD_KILL_ROUNDS: '300',
    HALYARD_COMMIT_CUTS: '60',
    HALYARD_EDGE_KILL_ROUNDS: '100',
    HALYARD_EDGE_PEOPLE: '5000',
    HALYARD_WORKER_ROUNDS: '60',
    HALYARD_MOVE_ROWS: '100000',
    HALYARD_MOVE_KILLS: '40',
    HALYARD_IMPORT_ROUNDS: '10',
    HALYARD_CHAOS_STEPS: '100',
    HALYARD_FUZZ_REQUESTS: '100000',
    HALYARD_PROPAGATION_CHANGES: '2000',
    HALYARD_BEHAVIOR_EVENTS: '1000000',
  },
  load: { HALYARD_LOAD_SECONDS: '300', HALYARD_LONG_RUN_SECONDS: '3600', HALYARD_STAMPEDE_REQUESTS: '1000' },
}

const [kind, ...only] = process.argv.slice(2)
const length = lengths[kind]
const folders = {
  faults: [
    'tests/faults',
    'tests/security',
    'tests/edge',
    'tests/transfer.test.ts',
    'tests/project-import.test.ts',
    'packages/server/src/features/cohorts/behavior/behavior-model.test.ts',
  ],
  load: ['tests/load'],
}
if (!length) {
  say('Use: npm run test:faults or npm run test:load')
  process.exit(1)
}
for (const [name, value] of Object.entries(length)) process.env[name] ??= value
process.argv.splice(2, process.argv.length, ...(only.length > 0 ? only : folders[kind]))
await import('./test.mjs')
